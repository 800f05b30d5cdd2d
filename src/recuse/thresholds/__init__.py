"""Plug-in rejection: a reject option around any classifier."""

from .classifier import ThresholdRejectClassifier
from .guarantee import Certificate

__all__ = ["Certificate", "ThresholdRejectClassifier"]
