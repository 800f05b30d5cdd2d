"""The comparison behind the command line: methods, nested cross-validation, checkpoints, result, and its files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers and documentation, which do not run the code
    from .cross_validation import compare
    from .fitting import fit
    from .methods import METHODS as METHODS
    from .methods import Method
    from .plans import Task
    from .result import Comparison
    from .verdict import Verdict
    from .writing import write_report, write_run

__all__ = ["Comparison", "Method", "Task", "Verdict", "compare", "fit", "write_report", "write_run"]

# Name -> module that defines it. Loaded on first use, so that the list of methods needs no scikit-learn.
_HOMES = {
    "Comparison": "result",
    "METHODS": "methods",
    "Method": "methods",
    "Task": "plans",
    "Verdict": "verdict",
    "compare": "cross_validation",
    "fit": "fitting",
    "write_report": "writing",
    "write_run": "writing",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
