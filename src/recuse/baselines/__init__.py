"""What the papers compare with."""

from .two_step import ChowBoostingClassifier, TwoStepBoostingClassifier

__all__ = ["ChowBoostingClassifier", "TwoStepBoostingClassifier"]
