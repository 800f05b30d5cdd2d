"""Support vector machines with a reject option."""

from .double_hinge import DoubleHingeSVC
from .double_ramp import DoubleRampSVC
from .one_class import CoupledOneClassSVC
from .paths import DoubleHingePath, DoubleRampPath, double_hinge_path, double_ramp_path

__all__ = [
    "CoupledOneClassSVC",
    "DoubleHingePath",
    "DoubleHingeSVC",
    "DoubleRampPath",
    "DoubleRampSVC",
    "double_hinge_path",
    "double_ramp_path",
]
