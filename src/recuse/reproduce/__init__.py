"""The papers' experiments, run again: ``python -m recuse.reproduce NAME [--quick]``."""

# Name of a paper -> module of this folder with a function `run`.
PROTOCOLS = {"boosting-abstention": "boosting_abstention", "double-hinge": "double_hinge", "exactboost": "exactboost"}

__all__ = ["PROTOCOLS"]
