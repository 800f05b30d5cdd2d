"""The comparison behind the command line: methods, nested cross-validation, checkpoints, result, and its files."""

from .cross_validation import compare
from .fitting import fit
from .methods import METHODS as METHODS
from .methods import Method, Task
from .result import Comparison
from .verdict import Verdict
from .writing import write_report, write_run

__all__ = ["Comparison", "Method", "Task", "Verdict", "compare", "fit", "write_report", "write_run"]
