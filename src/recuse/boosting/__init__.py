"""Boosting for classification with a reject option."""

from .abstention import AbstentionBoostingClassifier

__all__ = ["AbstentionBoostingClassifier"]
