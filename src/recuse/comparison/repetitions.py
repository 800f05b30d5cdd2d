"""How often a comparison is repeated with other folds: until the choice is steady, or up to a limit.

Which fold a case falls into is chance, and on a small table it matters: other folds moved the cost of a method against
the cheapest one by one to four of its standard errors on tables of about 300 cases (statlog heart, Haberman), and by up
to one on breast cancer's 569. With one repetition the standard errors know only how the cases differ, and the order of
the leaders follows the seed. Costs are therefore means over repetitions, each with folds of its own, and what is
concluded from them allows for how much they differ between repetitions. In this file a standard error is still that of
the cases alone: whether folds matter is the question here.

- **Leaders.** After each repetition the next one is made for the leaders only: the methods, and answers that are the
  same for every case, within 2 sqrt(1 + 4 / R) standard errors of the cheapest, where R is the number of repetitions so
  far. (The 4 stands for folds that move a difference by two standard errors.) Those far behind keep the repetitions
  they have; one that comes close again catches up first. So the method chosen, and those it was chosen from, rest on
  all repetitions.
- **Steady** is a choice that was the same after each of the last three repetitions, while the differences of all
  within two standard errors of the cheapest are known, as far as folds go, to half their standard errors; or a single
  leader.
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
from .choice import standard_error
from .intervals import fold_error

AUTO = "auto"
MOST = 10  # repetitions
MOST_ANSWERS = 3_000  # cases times repetitions
MOST_CELLS = 300_000  # cases times columns times repetitions
SAME = 3  # looks in a row with the same choice
_CLOSE = 2.0  # standard errors from the cheapest
_FOLD_NOISE = 2.0  # how far one repetition's folds may move a difference, in its standard errors
_KNOWN = 0.5  # largest standard error of a difference from folds, in standard errors from cases


@dataclass(frozen=True)
class Repetitions:
    """How often the cross-validation was done, each time with other folds, and why no more.

    Attributes
    ----------
    done : int
        Number of repetitions of the leaders; methods far behind may have fewer.
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


def leaders(prices: Mapping[str, Floats], units: Indices | None = None) -> list[str]:
    """Return who may still turn out to be the cheapest: those that the next repetition is made for.

    Parameters
    ----------
    prices : mapping of str to ndarray of shape (repeats, n_cases)
        Price of each case in each repetition, by candidate; an answer that is the same for every case has one.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together.
    """
    return _within(margin(max(len(rows) for rows in prices.values())), prices, units)


def margin(repeats: int) -> float:
    """How many standard errors a leader may be behind the cheapest after so many repetitions."""
    return _CLOSE * float(np.sqrt(1 + _FOLD_NOISE**2 / repeats))


def why_enough(chosen: Sequence[str], prices: Mapping[str, Floats], units: Indices | None = None) -> str | None:
    """Say why the choice is steady; None if it is not.

    Parameters
    ----------
    chosen : sequence of str
        What was chosen after each repetition.
    prices, units
        As in `leaders`.
    """
    if len(leaders(prices, units)) == 1:
        return "one is far ahead of all others, whatever the folds"
    if len(chosen) < SAME or len(set(chosen[-SAME:])) > 1:
        return None
    cheapest = _cheapest(prices)
    rivals = [prices[name] - prices[cheapest] for name in _within(_CLOSE, prices, units)]
    if any(fold_error(rival) > _KNOWN * standard_error(rival.mean(axis=0), units) for rival in rivals):
        return None
    return (
        f"the choice was the same after each of the last {SAME}, and other folds would hardly move the differences "
        "between the leaders"
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
    return f"{limit}; the choice among the leaders may still depend on the folds"


def _cheapest(prices: Mapping[str, Floats]) -> str:
    return min(prices, key=lambda name: float(prices[name].mean()))


def _within(reach: float, prices: Mapping[str, Floats], units: Indices | None) -> list[str]:
    """The candidates within so many standard errors of the cheapest, paired over the cases."""
    means = {name: rows.mean(axis=0) for name, rows in prices.items()}
    cheapest = means[_cheapest(prices)]
    behind = {name: mean - cheapest for name, mean in means.items()}
    return [name for name, more in behind.items() if more.mean() <= reach * standard_error(more, units)]
