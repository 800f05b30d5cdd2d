"""Classifiers that know when to step aside: yes, no, or "this needs manual review"."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "AbstentionBoostingClassifier",
    "ClassCosts",
    "Costs",
    "CoupledOneClassSVC",
    "Decisions",
    "DoubleHingeSVC",
    "DoubleRampSVC",
    "EnsembleRejectClassifier",
    "ExactBoostClassifier",
    "GuaranteedRejectClassifier",
    "RejectedSamplesError",
    "ThresholdRejectClassifier",
    "compare",
    "contributions",
    "cross_val_decide",
    "decide",
    "export",
    "fit",
    "is_rejected",
    "load",
    "nearest_cases",
    "remember_cases",
    "save",
    "score_batch",
]

# Public name -> module that defines it. Loaded on first use, so that `import recuse` stays light.
_HOMES = {
    "AbstentionBoostingClassifier": "boosting",
    "ClassCosts": "class_costs",
    "Costs": "costs",
    "CoupledOneClassSVC": "svm",
    "Decisions": "decisions",
    "DoubleHingeSVC": "svm",
    "DoubleRampSVC": "svm",
    "EnsembleRejectClassifier": "ensemble",
    "ExactBoostClassifier": "boosting",
    "GuaranteedRejectClassifier": "guarantees",
    "RejectedSamplesError": "base",
    "ThresholdRejectClassifier": "thresholds",
    "compare": "comparison",
    "contributions": "case_facts",
    "cross_val_decide": "out_of_fold",
    "decide": "locating",
    "export": "exporting",
    "fit": "comparison",
    "is_rejected": "rejections",
    "load": "persistence",
    "nearest_cases": "case_facts",
    "remember_cases": "case_facts",
    "save": "persistence",
    "score_batch": "batches",
}

_SUBMODULES = (
    "baselines",
    "batches",
    "boosting",
    "cards",
    "comparison",
    "dask",
    "datasets",
    "ensemble",
    "evaluating",
    "exporting",
    "guarantees",
    "metrics",
    "persistence",
    "planning",
    "plot",
    "predicting",
    "reproduce",
    "reviews",
    "svm",
    "tables",
    "thresholds",
    "watching",
)

if TYPE_CHECKING:  # the same names for type checkers and documentation, which do not run the code
    from .base import RejectedSamplesError
    from .batches import score_batch
    from .boosting import AbstentionBoostingClassifier, ExactBoostClassifier
    from .case_facts import contributions, nearest_cases, remember_cases
    from .class_costs import ClassCosts
    from .comparison import compare, fit
    from .costs import Costs
    from .decisions import Decisions
    from .ensemble import EnsembleRejectClassifier
    from .exporting import export
    from .guarantees import GuaranteedRejectClassifier
    from .locating import decide
    from .out_of_fold import cross_val_decide
    from .persistence import load, save
    from .rejections import is_rejected
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
