"""What the papers compare with."""

from .embedded import EmbeddedRejectSVC
from .independent import IndependentOneClassSVC
from .ranking import KSLinearClassifier, RankBoostClassifier
from .two_step import TwoStepBoostingClassifier

__all__ = [
    "EmbeddedRejectSVC",
    "IndependentOneClassSVC",
    "KSLinearClassifier",
    "RankBoostClassifier",
    "TwoStepBoostingClassifier",
]
