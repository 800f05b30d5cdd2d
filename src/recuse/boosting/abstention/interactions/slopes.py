"""Slopes and curvatures of the surrogate in (h, r), case by case, and its value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....arrays import Floats
from ....compiling import without_collector
from ..engine.problem import Problem

LOGISTIC = "logistic"


class Slopes:
    """The surrogate of a problem's cases in the form that the compiled loops take.

    Parameters
    ----------
    problem : Problem
        Cases and the loss, the sum of its two terms.
    with_r : bool
        Whether there is an acceptance score to learn; without it the loss is that of h alone.
    rows : index, optional
        Some of the cases.
    """

    def __init__(self, problem: Problem, *, with_r: bool, rows: Any = slice(None)) -> None:
        from . import loops

        self._loops = without_collector(loops)
        surrogate = problem.surrogate
        s = np.ascontiguousarray(problem.s[rows])
        kb = np.ascontiguousarray(np.broadcast_to(surrogate.k * surrogate.b, problem.s.shape)[rows])
        self.cases = loops.SurrogateCases(s, kb, int(problem.positive[rows].sum()))
        logistic = surrogate.loss == LOGISTIC
        self.form = loops.SurrogateForm(float(surrogate.b), float(surrogate.phi.unit), logistic, with_r)
        self.stats = np.zeros((len(s), 5))

    def at(self, h: Floats, r: Floats) -> Floats:
        """Slopes by h and r, and curvatures by hh, hr and rr: shape (m, 5), overwritten by the next call."""
        self._loops.statistics(h, r, self.cases, self.form, self.stats)
        return self.stats

    def objective(self, h: Floats, r: Floats) -> float:
        """Weighted mean of the surrogate."""
        return float(self._loops.objective(h, r, self.cases, self.form))
