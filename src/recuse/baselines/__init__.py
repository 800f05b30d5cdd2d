"""What the papers compare with."""

from .independent import IndependentOneClassSVC
from .two_step import ChowBoostingClassifier, TwoStepBoostingClassifier

__all__ = ["ChowBoostingClassifier", "IndependentOneClassSVC", "TwoStepBoostingClassifier"]
