"""Boosting for classification with a reject option."""

from .abstention.estimator import AbstentionBoostingClassifier
from .exactboost.estimator import ExactBoostClassifier

__all__ = ["AbstentionBoostingClassifier", "ExactBoostClassifier"]
