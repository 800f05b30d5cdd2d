"""Support vector machines with a reject option."""

from .double_hinge import DoubleHingeSVC
from .path import DoubleHingePath, double_hinge_path

__all__ = ["DoubleHingePath", "DoubleHingeSVC", "double_hinge_path"]
