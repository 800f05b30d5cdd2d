"""The comparison behind the command line and the report: methods, nested cross-validation, checkpoints, result."""

from .methods import METHODS, Method, Setting
from .result import Comparison
from .running import compare, fit_method

__all__ = ["METHODS", "Comparison", "Method", "Setting", "compare", "fit_method"]
