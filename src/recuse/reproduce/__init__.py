"""The papers' experiments, run again: ``python -m recuse.reproduce NAME [--quick]``."""

# Name of a paper -> module of this folder with a function `run`.
PROTOCOLS = {
    "boosting-abstention": "boosting_abstention",
    "consum": "consum",
    "double-hinge": "double_hinge",
    "double-ramp": "double_ramp",
    "exactboost": "exactboost",
}

__all__ = ["PROTOCOLS"]
