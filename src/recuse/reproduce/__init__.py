"""The papers' experiments, run again: ``python -m recuse.reproduce NAME [--quick]``."""

PROTOCOLS = {"double-hinge": "double_hinge"}

__all__ = ["PROTOCOLS"]
