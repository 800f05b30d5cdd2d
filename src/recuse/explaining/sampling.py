"""Contributions of any model at all, estimated with a bounded number of calls.

A case is compared with background cases. Starting from one of them, its columns are replaced one after another by those
of the case, in a random order, and each column is given what the score changes by (Castro, Gomez and Tejada, 2009; the
mean over all orders and background cases is the Shapley value). All cases are given the same draws, so that what is
said of a case depends on no other. The spread over the draws gives the standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Indices
from .contributions import Contributions

MOST_CALLS = 100  # scores of one case: the number of draws follows from it
_FEWEST_DRAWS = 4
_MOST_ROWS = 20_000  # scored at once

Score = Callable[[Any], Floats]


class Background(NamedTuple):
    """Training cases to compare with, as an array, and the groups of columns that are replaced together.

    Attributes
    ----------
    cases : ndarray of shape (n, n_columns)
        The cases.
    groups : ndarray of int of shape (n_columns,)
        Number of the group of each column; columns made from the same column of a table belong together.
    """

    cases: NDArray[Any]
    groups: Indices

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0


def explain_by_sampling(
    score: Score, X: Any, background: Background, scale: str, *, seed: int = 0, calls: int = MOST_CALLS
) -> Contributions:
    """Estimated contributions of the groups of columns, with standard errors.

    Parameters
    ----------
    score : callable
        Cases -> score of each.
    X : ndarray or DataFrame
        The cases.
    background : Background
        What they are compared with.
    scale : str
        What the score is.
    seed : int
        Of the draws.
    calls : int
        Scores of one case, roughly.
    """
    rng = np.random.default_rng(seed)
    players = _players(score, X, background, calls // _FEWEST_DRAWS - 1)
    n_draws = max(_FEWEST_DRAWS, calls // (len(players) + 1))
    draws = [(int(rng.integers(len(background.cases))), rng.permutation(len(players))) for _ in range(n_draws)]
    parts = [
        _explain_block(score, _rows(X, slice(start, start + _MOST_ROWS)), background, players, draws)
        for start in range(0, n_cases(X), _MOST_ROWS)
    ]
    amounts, error, base = (np.concatenate(found) for found in zip(*parts, strict=True))
    return Contributions(amounts, base, scale, error)


def _explain_block(
    score: Score, X: Any, background: Background, players: list[Indices], draws: list[tuple[int, Indices]]
) -> tuple[Floats, Floats, Floats]:
    """Mean and standard error of what each group adds, over the draws, and the mean score at their start."""
    n = n_cases(X)
    total, squares, base = np.zeros((n, background.n_groups)), np.zeros((n, background.n_groups)), np.zeros(n)
    for row, order in draws:
        mixed = _like(X, np.repeat(background.cases[row : row + 1], n, axis=0))
        before = score(mixed)
        base += before / len(draws)
        added = np.zeros((n, background.n_groups))
        for player in order:
            groups = players[player]
            columns = np.flatnonzero(np.isin(background.groups, groups))
            mixed = _replace(mixed, X, columns)
            after = score(mixed)
            # A group that has no place of its own among the players shares what they change together.
            added[:, groups] = ((after - before) / len(groups))[:, None]
            before = after
        total += added
        squares += added**2
    mean = total / len(draws)
    variance = np.maximum(squares / len(draws) - mean**2, 0.0) / (len(draws) - 1)
    return mean, np.sqrt(variance), base


def _players(score: Score, X: Any, background: Background, most: int) -> list[Indices]:
    """Groups to replace one by one and, where there are too many, the others in one go: those of least effect."""
    n = background.n_groups
    if n <= most:
        return [np.array([group]) for group in range(n)]
    cases = _like(X, background.cases)
    shifted = _like(X, np.roll(background.cases, 1, axis=0))
    before = score(cases)
    effect = np.array(
        [
            np.abs(score(_replace(cases, shifted, np.flatnonzero(background.groups == group))) - before).mean()
            for group in range(n)
        ]
    )
    order = np.argsort(-effect, kind="stable")
    single = np.sort(order[: most - 1])
    return [*(np.array([group]) for group in single), np.sort(order[most - 1 :])]


def n_cases(X: Any) -> int:
    """Number of rows."""
    return int(X.shape[0])


def _rows(X: Any, rows: slice) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _like(X: Any, cases: NDArray[Any]) -> Any:
    """Cases in the container, and with the types, of others."""
    if not hasattr(X, "iloc"):
        return np.asarray(cases, dtype=np.asarray(X).dtype if cases.dtype == object else cases.dtype).copy()
    import pandas as pd

    columns = {
        name: pd.Series(cases[:, i].tolist()).astype(X.dtypes.iloc[i], errors="ignore")
        for i, name in enumerate(X.columns)
    }
    return pd.DataFrame(columns)


def _replace(mixed: Any, X: Any, columns: Indices) -> Any:
    """The cases with some columns of others."""
    if not hasattr(mixed, "iloc"):
        mixed = mixed.copy()
        mixed[:, columns] = X[:, columns]
        return mixed
    changed = mixed.copy(deep=False)
    for name in mixed.columns[columns]:
        changed[name] = X[name].array
    return changed
