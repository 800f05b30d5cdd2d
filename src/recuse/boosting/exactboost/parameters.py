"""What the parameters of the estimator say: checked, and as the settings of a run."""

from __future__ import annotations

from typing import Any

from ...parameters import check_choice, check_count, check_number, check_share, check_switch
from .objectives import find_objective
from .problem import RunSettings

SEARCHES = {"exact": True, "bisection": False}  # whether every cut and shift is looked at


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that mean nothing, each by itself and then together."""
    check_choice("search", estimator.search, tuple(SEARCHES))
    check_count("n_estimators", estimator.n_estimators)
    check_count("n_rounds", estimator.n_rounds)
    check_share("subsample", estimator.subsample, or_one=True)
    check_share("max_features", estimator.max_features, or_one=True)
    check_number("margin", estimator.margin, 0.0)
    if estimator.margin >= 1:
        raise ValueError(f"margin must be less than 1, the whole range of the score; got {estimator.margin!r}.")
    check_switch("warm_start", estimator.warm_start)
    check_count("verbose", estimator.verbose, least=0)
    if estimator.n_iter_no_change is not None:
        check_count("n_iter_no_change", estimator.n_iter_no_change)
    _check_combinations(estimator)


def _check_combinations(estimator: Any) -> None:
    """Refuse parameters that do not go together."""
    objective, search = find_objective(estimator.metric), estimator.search
    if objective.compiled is None and not SEARCHES[search]:
        raise ValueError(f"search={search!r} needs one of the metrics by name; a function is searched by trial.")
    if estimator.monotonic_cst is not None and not SEARCHES[search]:
        raise ValueError(f"monotonic_cst needs search='exact'; got search={search!r}.")
    if estimator.k is not None and not objective.uses_k:
        raise ValueError(
            f"k={estimator.k!r} belongs to metric='precision_at_k'; with metric={estimator.metric!r} leave it out."
        )


def run_settings(estimator: Any, *, hold_out: bool) -> RunSettings:
    """How the runs of a fit go; with `hold_out` each keeps some of the cases out."""
    return RunSettings(
        n_rounds=int(estimator.n_rounds),
        subsample=float(estimator.subsample),
        max_features=float(estimator.max_features),
        margin=float(estimator.margin),
        exact=SEARCHES[estimator.search],
        patience=int(estimator.n_iter_no_change or 0),
        hold_out=hold_out,
    )
