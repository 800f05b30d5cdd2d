"""An ensemble that decides: members of many kinds, blended into one probability, answered at the prices."""

from .estimator import EnsembleRejectClassifier
from .roster import ROSTER, Member

__all__ = ["ROSTER", "EnsembleRejectClassifier", "Member"]
