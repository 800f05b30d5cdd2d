"""How often a comparison is repeated with other folds: until the choice is steady, or up to a limit.

Which fold a case falls into is chance, and on a small table it matters: other folds moved the cost of a method against
the cheapest one by one to four of its standard errors on tables of about 300 cases (statlog heart, Haberman), and by up
to one on breast cancer's 569. With one repetition the standard errors know only how the cases differ, and the order of
the leaders follows the seed. Costs are therefore means over repetitions, each with folds of its own, and what is
concluded from them allows for how much they differ between repetitions. In this file a standard error is still that of
the cases alone: whether folds matter is the question here.

- **In question.** After each repetition the next one is made only for the methods that are in question: those that
  other folds may make matter to the choice, which is the first method in the list within one standard error of the
  cheapest.
  A method behind the one that would be chosen matters once it is cheaper than that one by more than a standard error;
  one before it, once it is within one of the cheapest. How far other folds may move a difference is twice its standard
  error from folds, which is taken to be two standard errors in one repetition, as if that had been seen once, and
  corrected by what is seen: see `reach`. A method that is out keeps the repetitions it has; one that is in question
  again catches up first. Nor is a method in question that is more than 2 sqrt(1 + 4 / R) standard errors behind the
  cheapest of all, which may be an answer that is the same for every case, after R repetitions.
- **Steady** is a choice when nothing else is in question; or when it was the same after each of the last three
  repetitions, while the differences between the method that would be chosen and all that are in question, constant
  answers among them, are known, as far as folds go, to .7 of their standard errors: folds add less than half of what
  the variance is without them.
- **Limit.** Ten repetitions, 3,000 answers per method and 300,000 cells: of a table of 600 cases there are five, of one
  with more than 1,500 one; and one of 600 cases with more than 250 columns, where each fit takes long.

None of this depends on the clock: the same seed gives the same repetitions on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from .choice import TOLERANCE, standard_error
from .intervals import fold_error
from .payments import repeated_difference

AUTO = "auto"
MOST = 10  # repetitions
MOST_ANSWERS = 3_000  # cases times repetitions
MOST_CELLS = 300_000  # cases times columns times repetitions
SAME = 3  # looks in a row with the same choice
_CLOSE = 2.0  # standard errors from the cheapest
_FOLD_NOISE = 2.0  # how far one repetition's folds may move a difference, in its standard errors
_KNOWN = 0.7  # largest standard error of a difference from folds, in standard errors from cases


@dataclass(frozen=True)
class Repetitions:
    """How often the cross-validation was done, each time with other folds, and why no more.

    Attributes
    ----------
    done : int
        Number of repetitions of the method chosen; methods that do not matter to the choice may have fewer.
    steady : bool or None
        Whether the choice was found to be steady; None if that was not asked.
    why : str
        Why it was not repeated further, as the end of a sentence.
    """

    done: int
    steady: bool | None
    why: str

    def as_dict(self) -> dict[str, Any]:
        """The facts by name."""
        return asdict(self)

    def __str__(self) -> str:
        times = "Cross-validated once" if self.done == 1 else f"Cross-validated {self.done} times, with other folds"
        return f"{times}: {self.why}."


def most_repetitions(n_cases: int, n_columns: int = 1) -> int:
    """How many repetitions a table of this size may get."""
    return max(1, min(MOST, MOST_ANSWERS // n_cases, MOST_CELLS // (n_cases * max(n_columns, 1))))


def in_question(
    best: str, models: Sequence[str], prices: Mapping[str, Floats], units: Indices | None = None
) -> list[str]:
    """Return the models that other folds may make matter to the choice: those that the next repetition is made for.

    Parameters
    ----------
    best : str
        The model chosen among the models; it is always in question.
    models : sequence of str
        All of them, in the order of preference.
    prices : mapping of str to ndarray of shape (repeats, n_cases)
        Price of each case in each repetition, by candidate; an answer that is the same for every case has one.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together.
    """
    close = _within(margin(max(len(rows) for rows in prices.values())), prices, units)
    cheapest = _cheapest({name: prices[name] for name in models})
    place = models.index(best)

    def matters(name: str) -> bool:
        if models.index(name) < place:  # it would be chosen if it were close to the cheapest
            rows, others = _in_both(prices[name], prices[cheapest])
            far = TOLERANCE + reach(rows - others, units)
            return _behind(prices[name], prices[cheapest], units) <= far
        # What is chosen would be so no longer if this one were that much cheaper.
        rows, others = _in_both(prices[name], prices[best])
        far = reach(rows - others, units) - TOLERANCE
        return _behind(prices[name], prices[best], units) <= far

    return [name for name in models if name == best or (name in close and matters(name))]


def margin(repeats: int) -> float:
    """How many standard errors a candidate may be behind the cheapest after so many repetitions."""
    return _CLOSE * float(np.sqrt(1 + _FOLD_NOISE**2 / repeats))


def reach(differences: Floats, units: Indices | None = None) -> float:
    """How far other folds may move the mean of differences of shape (repeats, n_cases), in its standard errors.

    Twice the standard deviation of a mean of so many repetitions. The variance of one is the mean of what is assumed
    beforehand, which counts as one repetition, and of what the repetitions after the first have shown.
    """
    repeats, seen = len(differences), 0.0
    error = standard_error(differences.mean(axis=0), units)
    if repeats > 1 and error > 0:
        seen = float(differences.mean(axis=1).var(ddof=1)) / error**2
    variance = (_FOLD_NOISE**2 + (repeats - 1) * seen) / repeats
    return 2.0 * float(np.sqrt(variance / repeats))


def why_enough(
    chosen: Sequence[str],
    best: str,
    models: Sequence[str],
    prices: Mapping[str, Floats],
    units: Indices | None = None,
) -> str | None:
    """Say why the choice is steady; None if it is not.

    Parameters
    ----------
    chosen : sequence of str
        What was chosen after each repetition.
    best, models, prices, units
        As in `in_question`.
    """
    rivals = [name for name in in_question(best, models, prices, units) if name != best]
    for name, rows in prices.items():
        if name not in models:  # the same answer for every case, which is kept where no model is convincingly cheaper
            far = TOLERANCE + reach(prices[best] - rows, units)
            if abs(_behind(rows, prices[best], units)) <= far:
                rivals.append(name)
    if not rivals:
        return "other folds are not expected to change the choice"
    if len(chosen) < SAME or len(set(chosen[-SAME:])) > 1:
        return None
    for name in rivals:
        difference = repeated_difference(prices[name], prices[best])
        if fold_error(difference) > _KNOWN * _error(prices[name], prices[best], units):
            return None
    return (
        f"the choice was the same after each of the last {SAME}, and other folds would hardly move the differences "
        "that it hangs on"
    )


def why_no_more(n_cases: int, done: int, n_columns: int = 1) -> str:
    """Say which limit ended the repetitions."""
    most = most_repetitions(n_cases, n_columns)
    if 2 * n_cases > MOST_ANSWERS:
        return f"tables of more than {MOST_ANSWERS // 2:,} cases are not repeated"
    if most == 1:
        return f"tables of more than {MOST_CELLS // 2:,} cells (cases times columns) are not repeated"
    limit = "further folds of these groups lack an outcome"
    if done == most:
        limit = f"the most for {n_cases:,} cases"
        limit += f" of {n_columns:,} columns" if most < most_repetitions(n_cases) else ""
    return f"{limit}; the choice may still depend on the folds"


def _cheapest(prices: Mapping[str, Floats]) -> str:
    return min(prices, key=lambda name: float(prices[name].mean()))


def _in_both(prices: Floats, others: Floats) -> tuple[Floats, Floats]:
    """The repetitions that both have."""
    repeats = min(len(prices), len(others))
    return prices[:repeats], others[:repeats]


def _within(most: float, prices: Mapping[str, Floats], units: Indices | None) -> list[str]:
    """The candidates within so many standard errors of the cheapest, paired over the cases."""
    cheapest = prices[_cheapest(prices)]
    return [name for name, rows in prices.items() if _behind(rows, cheapest, units) <= most]


def _behind(prices: Floats, others: Floats, units: Indices | None) -> float:
    """How much dearer the first is than the second, in standard errors of the difference, paired over the cases."""
    more, error = float(prices.mean() - others.mean()), _error(prices, others, units)
    if error > 0:
        return more / error
    return 0.0 if more == 0 else float(np.copysign(np.inf, more))


def _error(prices: Floats, others: Floats, units: Indices | None) -> float:
    """Standard error of the difference from the cases alone."""
    return standard_error(prices.mean(axis=0) - others.mean(axis=0), units)
