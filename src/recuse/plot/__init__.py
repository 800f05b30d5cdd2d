"""Displays of reject-option classifiers: computed once, drawn when asked, on axes of your own if you like."""

from .curves import (
    AccuracyRejectionDisplay,
    CostCurveDisplay,
    RejectConfusionMatrixDisplay,
    RiskCoverageDisplay,
)

__all__ = [
    "AccuracyRejectionDisplay",
    "CostCurveDisplay",
    "RejectConfusionMatrixDisplay",
    "RiskCoverageDisplay",
]
