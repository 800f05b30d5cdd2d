"""What every solver hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Solution:
    """The end of an optimisation: facts, for the estimator to publish or to warn about.

    Attributes
    ----------
    model : object
        Coefficients, or stumps and their weights.
    objective : float
        Final value of the objective.
    residual : float
        What the tolerance was compared with.
    n_iter : int
        Iterations used.
    converged : bool
        Whether the residual fell to the tolerance.
    history : dict, optional
        Traces, one value an iteration.
    """

    model: Any
    objective: float
    residual: float
    n_iter: int
    converged: bool
    history: Any = None
