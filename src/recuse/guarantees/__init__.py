"""Promises about accepted cases that hold with a stated confidence, for any reject-option classifier."""

from .estimator import GuaranteedRejectClassifier
from .promises import Promise
from .record import Guarantee, NoGuaranteeWarning, Shown
from .risks import RISKS

__all__ = ["RISKS", "Guarantee", "GuaranteedRejectClassifier", "NoGuaranteeWarning", "Promise", "Shown"]
