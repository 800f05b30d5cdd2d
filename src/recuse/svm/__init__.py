"""Support vector machines with a reject option."""

from .double_hinge import DoubleHingeSVC
from .one_class import CoupledOneClassSVC
from .path import DoubleHingePath, double_hinge_path

__all__ = ["CoupledOneClassSVC", "DoubleHingePath", "DoubleHingeSVC", "double_hinge_path"]
