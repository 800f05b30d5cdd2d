"""Plug-in rejection: a reject option around any classifier."""

from .estimator import ThresholdRejectClassifier
from .guarantee import Guarantee

__all__ = ["Guarantee", "ThresholdRejectClassifier"]
