"""Solution: what every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver ended. Solvers report; the estimator publishes these values and warns.

    Attributes
    ----------
    model : object
        The coefficients, in the form that the solver documents.
    objective : float
        Value of the objective that was minimised.
    residual : float
        What ``tol`` is compared with.
    n_iter : int
        Number of iterations done.
    converged : bool
        Whether the residual fell below ``tol`` before the iteration limit.
    history : sequence or dict of sequences, optional
        Residual, objective or similar values per iteration.
    """

    model: Any
    objective: float
    residual: float
    n_iter: int
    converged: bool
    history: Any = None
