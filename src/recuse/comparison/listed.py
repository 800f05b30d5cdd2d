"""The methods by name, title and size of table, for whoever only wants to read the list: it imports nothing.

`recuse.comparison.methods.METHODS` says how they are built; a test sees that the two agree.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """A method as it is listed.

    Attributes
    ----------
    name, title : str
        On the command line, and in tables.
    max_rows : int or None
        On larger tables it is left out unless it is asked for by name.
    """

    name: str
    title: str
    max_rows: int | None = None


LISTED = (
    Listed("ensemble", "Ensemble"),
    Listed("logistic-no-reject", "Logistic regression, never rejecting"),
    Listed("logistic-chow", "Logistic regression, Chow's rule"),
    Listed("logistic-tuned", "Logistic regression, tuned thresholds"),
    Listed("boosting-no-reject", "Gradient boosting, never rejecting"),
    Listed("boosting-chow", "Gradient boosting, Chow's rule"),
    Listed("boosting-tuned", "Gradient boosting, tuned thresholds"),
    Listed("forest-no-reject", "Random forest, never rejecting", 20_000),
    Listed("forest-chow", "Random forest, Chow's rule", 20_000),
    Listed("forest-tuned", "Random forest, tuned thresholds", 20_000),
    Listed("abstention-boosting", "Boosting with abstention"),
    Listed("exactboost", "ExactBoost on the cost"),
    Listed("double-hinge", "Double hinge SVM", 5_000),
    Listed("double-ramp", "Double ramp SVM", 2_000),
    Listed("coupled-one-class", "Coupled one-class SVMs", 5_000),
)
