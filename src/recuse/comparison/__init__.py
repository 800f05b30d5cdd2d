"""The comparison behind the command line and the report: methods, nested cross-validation, checkpoints, result."""

from .cross_validation import compare, fit_method
from .methods import METHODS as METHODS
from .methods import Method, Setting
from .result import Comparison

__all__ = ["Comparison", "Method", "Setting", "compare", "fit_method"]
