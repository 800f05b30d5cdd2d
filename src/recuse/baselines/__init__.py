"""What the papers compare with; boosted stumps with Chow's rule are `AbstentionBoostingClassifier(family="chow")`."""

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
