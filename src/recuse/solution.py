"""What every solver hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Solution:
    """The end point of a solver, as facts; the estimator warns and publishes.

    Attributes
    ----------
    model : object
        The coefficients, in the form the solver's documentation says.
    objective : float
        Value of the objective that was minimised.
    residual : float
        What ``tol`` is compared with.
    n_iter : int
        Number of iterations done.
    converged : bool
        Whether the residual fell below ``tol`` before the iteration limit.
    history : sequence or dict of sequences, optional
        Residual, objective or the like along the way.
    """

    model: Any
    objective: float
    residual: float
    n_iter: int
    converged: bool
    history: Any = None
