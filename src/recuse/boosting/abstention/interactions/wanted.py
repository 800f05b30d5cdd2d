"""The parameter `interactions`: how many pairs of features, which ones, or "auto"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....labels import preview
from ....parameters import is_integer
from ...constraints import Signs
from .screen import Pairs

AUTO = "auto"
_FEW, _PER_FEATURE = 10, 3  # numbers of pairs that "auto" tries: a few, and some per feature

# Off, a number of pairs, the pairs themselves as columns, or "auto".
Wanted = int | tuple[tuple[int, int], ...] | str | None


def check_interactions(interactions: Any) -> None:
    """Refuse what is neither None, a number, pairs nor "auto"."""
    if interactions is None or (isinstance(interactions, str) and interactions == AUTO):
        return
    if is_integer(interactions) and interactions >= 0:
        return
    if isinstance(interactions, (list, tuple, np.ndarray)) and all(_is_pair(pair) for pair in interactions):
        return
    raise ValueError(
        "interactions must be None, a number of pairs, 'auto', or a list of pairs of columns such as "
        f"[('age', 'smoking')] or [(0, 3)]; got {interactions!r}."
    )


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, (list, tuple, np.ndarray)) and len(pair) == 2


def resolve_interactions(interactions: Any, signs: Signs, names: NDArray[Any] | None) -> Wanted:
    """Pairs as column numbers, the smaller first; None where nothing is asked for, or there are no two features.

    A monotone feature, of a sign other than 0, is in no pair: a step function of two features need not be monotone.
    """
    if interactions is None or (is_integer(interactions) and interactions == 0):
        return None
    n_features, n_free = len(signs), int((signs == 0).sum())
    if isinstance(interactions, str):
        return AUTO if n_free > 1 else None
    if is_integer(interactions):
        return min(int(interactions), n_free * (n_free - 1) // 2) or None
    pairs = [_columns(pair, n_features, names) for pair in interactions]
    for pair, columns in zip(interactions, pairs, strict=True):
        if signs[list(columns)].any():
            raise ValueError(
                f"interactions has the pair {tuple(pair)!r}, of which a column is in monotonic_cst: a pair term would "
                "not keep h monotone. Leave out the pair, or the constraint."
            )
    repeated = {pair for pair in pairs if pairs.count(pair) > 1}
    if repeated:
        raise ValueError(f"interactions names the pair {min(repeated)} more than once: name it once.")
    return tuple(pairs) or None


def _columns(pair: Any, n_features: int, names: NDArray[Any] | None) -> tuple[int, int]:
    """Column numbers of a pair, the smaller first."""
    first, second = sorted(_column(column, n_features, names) for column in pair)
    if first == second:
        raise ValueError(f"interactions has the pair {tuple(pair)!r}: a pair needs two different columns.")
    return first, second


def _column(column: Any, n_features: int, names: NDArray[Any] | None) -> int:
    """Number of a column that is given by its number or name."""
    if is_integer(column):
        if 0 <= column < n_features:
            return int(column)
        raise ValueError(
            f"interactions names column {column}, but X has {n_features} columns: give numbers from 0 to "
            f"{n_features - 1}."
        )
    found = [] if names is None else np.flatnonzero(names == column).tolist()
    if not found:
        known = "X has no column names: give column numbers" if names is None else f"X has {preview(names)}"
        raise ValueError(f"interactions names the column {column!r}, which X does not have; {known}.")
    return int(found[0])


def sizes_to_try(wanted: Wanted, n_features: int) -> list[int]:
    """Numbers of the strongest pairs to boost; for given pairs their number."""
    n_pairs = n_features * (n_features - 1) // 2
    if wanted == AUTO:
        return sorted({min(_FEW, n_pairs), min(_PER_FEATURE * n_features, n_pairs)})
    return [wanted] if isinstance(wanted, int) else [len(wanted or ())]


def pairs_to_boost(wanted: Wanted, ranked: Pairs, size: int) -> Pairs:
    """The pairs that were given, or the strongest ones."""
    if isinstance(wanted, tuple):
        return np.array(wanted, dtype=np.int64)
    return ranked[:size]
