"""Displays of reject-option classifiers: computed once, drawn on new axes or on those given."""

from .curves import AccuracyRejectionDisplay, CostCurveDisplay, RejectConfusionMatrixDisplay, RiskCoverageDisplay
from .edits import EditDisplay
from .margins import MarginLossDisplay
from .regions import RejectRegionDisplay
from .reliability import ReliabilityDisplay
from .shapes import ShapeFunctionDisplay
from .surfaces import InteractionDisplay

__all__ = [
    "AccuracyRejectionDisplay",
    "CostCurveDisplay",
    "EditDisplay",
    "InteractionDisplay",
    "MarginLossDisplay",
    "RejectConfusionMatrixDisplay",
    "RejectRegionDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "ShapeFunctionDisplay",
]
