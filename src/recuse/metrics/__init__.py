"""Metrics, curves and scorers of classification with a reject option."""

from .curves import (
    accuracy_rejection_curve,
    augrc_score,
    aurc_score,
    cost_curve,
    coverage_at_risk,
    eaurc_score,
    pareto_front,
    risk_at_coverage,
    risk_coverage_curve,
)
from .merging import RiskCoverageSketch
from .ranking import ks_score, precision_at_k_score
from .rejection import (
    ClassScores,
    coverage_score,
    expected_cost,
    per_class_scores,
    reject_confusion_matrix,
    rejection_rate,
    selective_accuracy_score,
)
from .reliability import Reliability, reliability_curve
from .scorers import RejectScorer, get_scorer, get_scorer_names

__all__ = [
    "ClassScores",
    "RejectScorer",
    "Reliability",
    "RiskCoverageSketch",
    "accuracy_rejection_curve",
    "augrc_score",
    "aurc_score",
    "cost_curve",
    "coverage_at_risk",
    "coverage_score",
    "eaurc_score",
    "expected_cost",
    "get_scorer",
    "get_scorer_names",
    "ks_score",
    "pareto_front",
    "per_class_scores",
    "precision_at_k_score",
    "reject_confusion_matrix",
    "rejection_rate",
    "reliability_curve",
    "risk_at_coverage",
    "risk_coverage_curve",
    "selective_accuracy_score",
]
