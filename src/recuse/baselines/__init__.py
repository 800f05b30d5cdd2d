"""What the papers compare with."""

from .ranking import KSLinearClassifier, RankBoostClassifier
from .two_step import ChowBoostingClassifier, TwoStepBoostingClassifier

__all__ = ["ChowBoostingClassifier", "KSLinearClassifier", "RankBoostClassifier", "TwoStepBoostingClassifier"]
