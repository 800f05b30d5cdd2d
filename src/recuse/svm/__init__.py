"""Support vector machines with a reject option."""

from .double_hinge import DoubleHingeSVC

__all__ = ["DoubleHingeSVC"]
