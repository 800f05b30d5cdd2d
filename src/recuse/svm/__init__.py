"""Support vector machines with a reject option."""

from .double_hinge import DoubleHingeSVC
from .double_ramp import DoubleRampSVC
from .path import DoubleHingePath, double_hinge_path

__all__ = ["DoubleHingePath", "DoubleHingeSVC", "DoubleRampSVC", "double_hinge_path"]
