"""What the papers compare with."""

from .embedded import EmbeddedRejectSVC
from .two_step import ChowBoostingClassifier, TwoStepBoostingClassifier

__all__ = ["ChowBoostingClassifier", "EmbeddedRejectSVC", "TwoStepBoostingClassifier"]
