"""One sentence per case: the probability and the thresholds, and where the members disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..boosting.abstention.pairs import StartedPair

CaseNames = Callable[[int], list[str]]

_NAMED = 3  # columns named at most
_WORTH_NAMING = 0.005  # a smaller share would be shown as 0 %
_APART = 0.2  # members this far apart, in probability, disagree


def names_by_case(names: list[str], columns: Indices, categories: NDArray[Any]) -> CaseNames:
    """A function that returns the names of the columns for a case; of a category with its value, "job = student".

    Parameters
    ----------
    names : list of str
        Of the columns.
    columns : ndarray of int
        Which of them hold categories.
    categories : ndarray of str of shape (n, len(columns))
        Their values, "" where one is missing.
    """
    if not len(columns):
        return lambda case: names

    def of_case(case: int) -> list[str]:
        said = list(names)
        for column, value in zip(columns.tolist(), categories[case], strict=True):
            said[column] += f" = {value}" if value else " missing"
        return said

    return of_case


def disagreement(accepted: Flags, members: Floats, weights: Floats) -> list[str]:
    """Of rejected cases, how far the members that count are apart; nothing of others.

    Parameters
    ----------
    accepted : ndarray of bool of shape (n,)
        Which cases are answered.
    members : ndarray of shape (n, n_members)
        Probability of the positive class by each member.
    weights : ndarray of shape (n_members,)
        How much each counts; those that count less than half of an equal share are left out.
    """
    counting = weights >= 0.5 * weights.sum() / len(weights)
    if counting.sum() < 2:
        return [""] * len(accepted)
    low, high = members[:, counting].min(axis=1), members[:, counting].max(axis=1)
    disagree = ~accepted & (high - low >= _APART)
    return [
        f"; members disagree: {least:.2f} to {most:.2f}" if differs else ""
        for least, most, differs in zip(low.tolist(), high.tolist(), disagree.tolist(), strict=True)
    ]


def learned_reasons(
    rejector: StartedPair, X: Floats, p: Floats, positive: str, accepted: Flags, names: CaseNames
) -> list[str]:
    """What the rejector made of the probability, and which columns changed its mind.

    Parameters
    ----------
    rejector : StartedPair
        Boosted on top of the blend.
    X : ndarray of shape (n, n_columns + 1)
        The cases with the log-odds behind them.
    p : ndarray of shape (n,)
        Probabilities of the positive class by the blend.
    positive : str
        As that class is to be called.
    accepted : ndarray of bool of shape (n,)
        Which cases are answered.
    names : callable
        Position of a case -> names of the columns.
    """
    _, r = rejector.contributions(X)
    sentences = []
    for case, is_accepted in enumerate(accepted.tolist()):
        amounts = np.maximum(r[case, :-1] if is_accepted else -r[case, :-1], 0.0)
        because = f" ({shares(amounts, names(case))} of what columns add to that)" if amounts.any() else ""
        word = "accepted" if is_accepted else "rejected"
        sentences.append(f"probability {p[case]:.3g} of {positive}; {word} by the learned rejector{because}")
    return sentences


def from_positive_side(probabilities: Floats, positive_is_first: bool) -> Floats:
    """Probabilities of the positive class, given those of the second class."""
    return 1 - probabilities if positive_is_first else np.asarray(probabilities)


def shares(amounts: Floats, names: list[str]) -> str:
    """Name the largest amounts with their shares of the whole."""
    total = amounts.sum()
    top = [i for i in np.argsort(-amounts, kind="stable")[:_NAMED].tolist() if amounts[i] >= _WORTH_NAMING * total]
    said = [f"{names[i]} {amounts[i] / total:.0%}" for i in top]
    rest = np.count_nonzero(amounts >= _WORTH_NAMING * total) - len(top)
    if rest:
        said.append(f"{rest} other{'s' if rest > 1 else ''} {1 - amounts[top].sum() / total:.0%}")
    return ", ".join(said)
