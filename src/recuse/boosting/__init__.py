"""Boosting for classification with a reject option."""

from .abstention import AbstentionBoostingClassifier
from .exact import ExactBoostClassifier

__all__ = ["AbstentionBoostingClassifier", "ExactBoostClassifier"]
