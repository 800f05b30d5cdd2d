"""Going on from the runs of an earlier fit: what they depended on, and whether that is still so."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .objectives import in_words
from .problem import RankingProblem

# With these and the cases the runs of a fit are settled; random_state draws the seed of the first fit.
_RUNS_DEPEND_ON = (
    "metric", "k", "costs", "n_rounds", "subsample", "max_features", "margin", "search", "max_bins", "monotonic_cst",
    "categorical_features", "n_iter_no_change", "pos_label",
)  # fmt: skip


def beginning_of(estimator: Any, problem: RankingProblem) -> dict[str, str]:
    """All that the runs depend on, the cases in short; empty where no more runs may follow."""
    if not estimator.warm_start:
        return {}
    cases = hashlib.blake2b(problem.bins.codes.tobytes())
    numbers: list[NDArray[Any]] = [*problem.bins.cuts, problem.weight, problem.start, np.array([problem.n_pos])]
    if problem.groups is not None:
        numbers.append(problem.groups)
    for part in numbers:
        cases.update(part.tobytes())
    given = {name: in_words(getattr(estimator, name)) for name in _RUNS_DEPEND_ON}
    return given | {"cases": cases.hexdigest()}


def require_same_beginning(estimator: Any, before: dict[str, str], now: dict[str, str], n_runs: int) -> None:
    """Refuse to go on from `n_runs` runs that began otherwise, or that are more than are wanted."""
    changed = next((name for name, value in now.items() if before[name] != value), None)
    if changed is not None:
        said = "the cases differ" if changed == "cases" else f"{changed}={getattr(estimator, changed)!r} differs"
        raise ValueError(
            f"warm_start=True adds runs to those of the last fit, but {said} from it: use the same as then, or "
            "warm_start=False."
        )
    if n_runs > estimator.n_estimators:
        raise ValueError(
            f"n_estimators={estimator.n_estimators} must be at least the {n_runs} runs there are already, "
            "with warm_start=True."
        )
