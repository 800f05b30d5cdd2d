"""What the papers compare with."""

from .embedded import EmbeddedRejectSVC
from .independent import IndependentOneClassSVC
from .two_step import ChowBoostingClassifier, TwoStepBoostingClassifier

__all__ = ["ChowBoostingClassifier", "EmbeddedRejectSVC", "IndependentOneClassSVC", "TwoStepBoostingClassifier"]
