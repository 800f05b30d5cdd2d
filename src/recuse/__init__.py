"""Classifiers that know when to step aside: yes, no, or "this needs manual review"."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "AbstentionBoostingClassifier",
    "Costs",
    "CoupledOneClassSVC",
    "Decisions",
    "DoubleHingeSVC",
    "DoubleRampSVC",
    "EnsembleRejectClassifier",
    "ExactBoostClassifier",
    "RejectedSamplesError",
    "ThresholdRejectClassifier",
    "compare",
    "contributions",
    "cross_val_decide",
    "decide",
    "fit",
    "is_rejected",
    "load",
    "nearest_cases",
    "remember_cases",
    "save",
]

# Public name -> module that defines it. Loaded on first use, so that `import recuse` stays light.
_HOMES = {
    "AbstentionBoostingClassifier": "boosting",
    "Costs": "costs",
    "CoupledOneClassSVC": "svm",
    "Decisions": "decisions",
    "DoubleHingeSVC": "svm",
    "DoubleRampSVC": "svm",
    "EnsembleRejectClassifier": "ensemble",
    "ExactBoostClassifier": "boosting",
    "RejectedSamplesError": "base",
    "ThresholdRejectClassifier": "thresholds",
    "compare": "comparison",
    "contributions": "reviewing",
    "cross_val_decide": "locating",
    "decide": "locating",
    "fit": "comparison",
    "is_rejected": "locating",
    "load": "persistence",
    "nearest_cases": "reviewing",
    "remember_cases": "reviewing",
    "save": "persistence",
}

_SUBMODULES = (
    "baselines",
    "boosting",
    "comparison",
    "dask",
    "datasets",
    "ensemble",
    "evaluating",
    "metrics",
    "persistence",
    "plot",
    "predicting",
    "reproduce",
    "svm",
    "tables",
    "thresholds",
)

if TYPE_CHECKING:  # the same names for type checkers and documentation, which do not run the code
    from .base import RejectedSamplesError
    from .boosting import AbstentionBoostingClassifier, ExactBoostClassifier
    from .comparison import compare, fit
    from .costs import Costs
    from .decisions import Decisions
    from .ensemble import EnsembleRejectClassifier
    from .locating import cross_val_decide, decide, is_rejected
    from .persistence import load, save
    from .reviewing import contributions, nearest_cases, remember_cases
    from .svm import CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC
    from .thresholds import ThresholdRejectClassifier


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
