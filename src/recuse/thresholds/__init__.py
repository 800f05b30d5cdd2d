"""Plug-in rejection: a reject option around any classifier."""

from .estimator import ThresholdRejectClassifier
from .guarantee import Certificate

__all__ = ["Certificate", "ThresholdRejectClassifier"]
