"""The quadratic program of a DC step with an l2 penalty, by its dual.

    minimise  lam/2 |h|^2 + majoriser(h + b, rho)   over  h,  b,  rho >= rho_min.

Over lam, with one variable for each ramp of a case, signed by the label (x' = y gamma', x'' = y gamma''), the dual is

    maximise  mu y'(x' + x'') - 1/2 (x' + x'')'K(x' + x'') + rho_min z,     h = K (x' + x''),
    subject to  sum x' + sum x'' = 0,   y'x' - y'x'' = z >= 0,
                y_i x'_i in outer_i / (lam mu) [-turned', 1 - turned'],  and x'' alike with inner.

Where rho is free z = 0, and the equalities fall into two: x' of the positive cases with x'' of the negative ones sum to
0, multiplier b - rho, and so do the others, multiplier b + rho. Where that ends with rho < rho_min, rho = rho_min, one
equality is left, and x' + x'' of a case is one variable of the kinked program in `qp`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import kernels
from .qp import KinkedQP, best_shift, feasible
from .ramps import RampLoss, Turned
from .rows import MatrixRows, VectorRows
from .solvers import solve_smo
from .successive import RampPoint

Vector = NDArray[np.float64]
_FIRST_TOL = 1e-3  # in units of the score; then finer, until the gap is small enough
_FINEST_TOL = 1e-11
_GAP_SHARE = 0.1  # of tol: what a program may leave of its own duality gap


class NormProgram:
    """The quadratic program, each solved from the last solution.

    Parameters
    ----------
    loss : RampLoss
    rows : MatrixRows
        The kernel matrix.
    lam : float
    tol : float
        Of the descent: programs are solved to a small share of it.
    """

    def __init__(self, loss: RampLoss, rows: MatrixRows | VectorRows, lam: float, tol: float) -> None:
        if not isinstance(rows, MatrixRows):
            raise TypeError("NormProgram needs the whole kernel matrix.")
        self._rows, self._gap = rows, _GAP_SHARE * tol
        self._x = np.zeros(2 * len(loss.y))
        self.reset(loss, lam)

    def reset(self, loss: RampLoss, lam: float) -> None:
        """Go over to another lam or other prices; the last solution stays the start."""
        self.loss, self.lam = loss, lam
        positive = loss.y > 0
        self._group = np.concatenate([np.where(positive, 0, 1), np.where(positive, 1, 0)])

    def moved(self, point: RampPoint) -> RampPoint:
        """A point of another program, with its penalty in this one."""
        return self._point(point.beta, point.f - point.intercept, point.intercept, point.rho)

    def minimise(self, turned: Turned) -> tuple[RampPoint, float]:
        """A minimiser and a proven lower bound of the minimum."""
        point, bound = self._with_free_rho(turned)
        if point.rho >= self.loss.rho_min:
            return point, bound
        return self._with_least_rho(turned)

    def _boxes(self, turned: Turned) -> tuple[Vector, Vector]:
        """Ends of x' and x''."""
        height = np.concatenate([self.loss.outer, self.loss.inner]) / (self.lam * self.loss.mu)
        on = np.concatenate([turned.outer, turned.inner])
        y = np.concatenate([self.loss.y, self.loss.y])
        ends = -height * on, height * (1 - on)
        return np.where(y > 0, ends[0], -ends[1]), np.where(y > 0, ends[1], -ends[0])

    def _with_free_rho(self, turned: Turned) -> tuple[RampPoint, float]:
        K, y, n = self._rows.K, self.loss.y, len(self.loss.y)
        lower, upper = self._boxes(turned)
        slope = self.loss.mu * np.concatenate([y, y])
        x = self._balanced(lower, upper, slope)
        tol, left = _FIRST_TOL, _most_steps(n)
        while True:
            beta = x[:n] + x[n:]
            left -= kernels.smo_two_groups(K, lower, upper, slope, self._group, x, K @ beta, tol, left)[0]
            beta = x[:n] + x[n:]
            g = K @ beta
            point = self._point(beta, g, *self._best_band(g, lower, upper))
            bound = self.lam * float(slope @ x - 0.5 * beta @ g) + self.loss.constant(turned)
            value = point.penalty + self.loss.majoriser(point.f, point.rho, turned)
            if value - bound <= self._gap or point.rho < self.loss.rho_min or tol < _FINEST_TOL or left <= 0:
                break
            tol /= 10
        self._x = x
        return point, bound

    def _balanced(self, lower: Vector, upper: Vector, slope: Vector) -> Vector:
        """The last solution, moved into the boxes and onto the equalities."""
        x, program = np.empty_like(self._x), KinkedQP(lower, upper, upper, slope, slope)
        for group in (0, 1):
            members = np.flatnonzero(self._group == group)
            x[members] = feasible(program.take(members), self._x[members])
        return x

    def _best_band(self, g: Vector, lower: Vector, upper: Vector) -> tuple[float, float]:
        """Intercept and rho that are best for h: ``b - rho`` and ``b + rho`` do not depend on each other."""
        y = self.loss.y
        bends = self.loss.mu * np.concatenate([y, y]) - np.concatenate([g, g])
        ends = []
        for group in (0, 1):
            members = self._group == group
            ends.append(best_shift(bends[members], (upper - lower)[members], -float(upper[members].sum())))
        return (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2

    def _with_least_rho(self, turned: Turned) -> tuple[RampPoint, float]:
        problem, rho, n = self._kinked(turned), self.loss.rho_min, len(self.loss.y)
        start, tol = self._x[:n] + self._x[n:], _FIRST_TOL
        while True:
            solution = solve_smo(
                problem, self._rows, tol=tol, max_iter=_most_steps(n), cache_bytes=2**20, start=start, polish=True
            )
            start, gap = solution.model.beta, solution.model.gap
            if self.lam * gap <= self._gap or tol < _FINEST_TOL or not solution.converged:
                break
            tol /= 10
        point = self._point(solution.model.beta, solution.model.g, solution.model.intercept, rho)
        self._x = self._split(solution.model.beta, turned)
        value = point.penalty + self.loss.majoriser(point.f, rho, turned)
        return point, value - self.lam * gap

    def _kinked(self, turned: Turned) -> KinkedQP:
        """The program in ``x' + x''``: the outer ramp's part grows first, since its slope is larger."""
        lower, upper = (ends.reshape(2, -1) for ends in self._boxes(turned))
        y, mu, rho = self.loss.y, self.loss.mu, self.loss.rho_min
        return KinkedQP(
            lower=lower.sum(axis=0),
            kink=np.where(y > 0, upper[0] + lower[1], lower[0] + upper[1]),
            upper=upper.sum(axis=0),
            below=np.where(y > 0, mu + rho, rho - mu),
            above=np.where(y > 0, mu - rho, -mu - rho),
        )

    def _split(self, beta: Vector, turned: Turned) -> Vector:
        """X' and x'' of their sums."""
        lower, upper = (ends.reshape(2, -1) for ends in self._boxes(turned))
        positive = self.loss.y > 0
        outer = np.where(positive, np.minimum(beta - lower[1], upper[0]), np.maximum(beta - upper[1], lower[0]))
        return np.concatenate([outer, beta - outer])

    def _point(self, beta: Vector, g: Vector, b: float, rho: float) -> RampPoint:
        square = float(beta @ g)
        if square < -1e-10 * float(np.abs(beta).sum()) ** 2 * float(np.abs(self._rows.diagonal).max()):
            raise ValueError(
                f"penalty='l2' found a score of squared norm {square:.3g}: the kernel is not positive semidefinite on "
                "these cases. Use penalty='l1', which needs no norm, or another kernel."
            )
        return RampPoint(beta, g + b, b, rho, self.lam * 0.5 * square)


def _most_steps(n: int) -> int:
    """Steps after which a program is left as it is; the descent then ends with an honest residual."""
    return 50_000 + 200 * n
