"""Displays of reject-option classifiers: computed once, drawn when asked, on axes of your own if you like."""

from .curves import (
    AccuracyRejectionDisplay,
    CostCurveDisplay,
    RejectConfusionMatrixDisplay,
    RiskCoverageDisplay,
)
from .margins import MarginLossDisplay
from .shapes import ShapeFunctionDisplay

__all__ = [
    "AccuracyRejectionDisplay",
    "CostCurveDisplay",
    "MarginLossDisplay",
    "RejectConfusionMatrixDisplay",
    "RiskCoverageDisplay",
    "ShapeFunctionDisplay",
]
