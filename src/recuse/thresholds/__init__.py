"""Plug-in rejection: a reject option around any classifier."""

from .estimator import ThresholdRejectClassifier

__all__ = ["ThresholdRejectClassifier"]
