"""The quadratic program of a DC step with an l2 penalty, by its dual.

    minimise  lam/2 |h|^2 + majoriser(h + b, rho)   over  h,  b,  rho >= rho_min.

For a given rho and over lam, with one variable for each ramp of a case, signed by the label (x' = y gamma', x'' =
y gamma''), the dual is

    maximise  mu y'(x' + x'') - 1/2 (x' + x'')'K(x' + x'') + rho z,     h = K (x' + x''),     z = y'x' - y'x'',
    subject to  sum x' + sum x'' = 0,
                y_i x'_i in outer_i / (lam mu) [-active', 1 - active'],  and x'' alike with inner:

x' + x'' of a case is one variable of the kinked program in `qp`. The minimum V(rho) of the primal is convex, and the
constraints of the dual do not depend on rho: the value of any feasible point, a line in rho of slope z, lies below V
everywhere. Two lines, one falling and one rising, prove that V is nowhere below the point where they meet. That, and
where the slope would be 0 if it changed evenly, are the next values of rho to try.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats
from ...solution import Solution
from ..kernels import Kernel
from ..losses import ActiveHinges, RampLoss
from ..qp.interior_point import solve_linear
from ..qp.problem import KinkedQP
from ..qp.smo import solve_smo
from ..rows import MatrixRows, VectorRows, kernel_source
from .descent import MakeProgram, RampPoint

_FIRST_TOL = 1e-3  # in units of the score; then finer, until the gap is small enough
_FINEST_TOL = 1e-11
_GAP_SHARE = 0.1  # of tol: what a program may leave of its own duality gap
_MOST_WIDTHS = 100  # values of rho tried
_ROUNDING = 1e-13
_CASES_PER_FEATURE = 4  # from which on a linear kernel is better solved among the features, if pairs are slow
_PAIRS = (500, 10)  # pairs tried before: a number, and a number per case


@dataclass(frozen=True)
class _Line:
    """A lower bound of V, which it touches at `at` up to the gap of the solver."""

    at: float
    value: float
    slope: float

    def __call__(self, rho: float) -> float:
        return self.value + self.slope * (rho - self.at)


class NormProgram:
    """The quadratic program, each solved from the last solution.

    Parameters
    ----------
    loss : RampLoss
    rows : MatrixRows or VectorRows
        Kernel rows.
    lam : float
    tol : float
        Of the descent: programs are solved to a small share of it.
    cache_bytes : int
        Memory for kernel values inside a block, where the matrix is not held as a whole.
    features : ndarray or CSR matrix, optional
        The cases themselves, where the kernel is linear and they are many more than their features.
    """

    balanced = True  # the coefficients sum to 0

    @classmethod
    def maker(
        cls, X: Any, kernel: Kernel, *, lam: float, tol: float, cache_bytes: int, several: bool = False
    ) -> MakeProgram:
        """Programs on these cases by their losses, with the same kernel rows."""
        # tol=0.0: kernel values in double precision.
        whole = int(np.sqrt(cache_bytes / 8))
        rows = kernel_source(X, kernel, cache_bytes=cache_bytes, tol=0.0, whole=whole, several=several)
        few = kernel.form.linear and X.shape[1] <= X.shape[0] // _CASES_PER_FEATURE
        features = X if few else None
        return lambda loss: cls(loss, rows, lam, tol=tol, cache_bytes=cache_bytes, features=features)

    def __init__(
        self,
        loss: RampLoss,
        rows: MatrixRows | VectorRows,
        lam: float,
        *,
        tol: float,
        cache_bytes: int,
        features: Any = None,
    ) -> None:
        self._rows, self._tol, self._cache_bytes, self._features = rows, tol, cache_bytes, features
        self._pairs_are_slow = False
        self._beta, self._rho = np.zeros(len(loss.y)), loss.rho_min
        self.reset(loss, lam)

    def reset(self, loss: RampLoss, lam: float) -> None:
        """Change to another lam or other prices; the last solution stays the start."""
        self.loss, self.lam = loss, lam
        self._gap = _GAP_SHARE * self._tol * loss.price

    def moved(self, point: RampPoint) -> RampPoint:
        """A point of another program, with its penalty in this one."""
        return self._point(point.beta, point.f - point.intercept, point.intercept, point.rho)

    def minimise(self, active: ActiveHinges) -> tuple[RampPoint, float]:
        """A minimiser and a proven lower bound of the minimum."""
        best, line, least = self._at(self._rho, active)
        falling, rising = (line, None) if line.slope < 0 else (None, line)
        for tried in range(_MOST_WIDTHS):
            bound = _lower_bound(falling, rising, self.loss.rho_min)
            if least - bound <= self._gap:
                break
            rho = _next_width(falling, rising, self.loss.rho_min, by_slopes=tried % 2 == 1)
            point, line, value = self._at(rho, active)
            falling, rising = (line, rising) if line.slope < 0 else (falling, line)
            if value < least:
                best, least = point, value
        self._rho = best.rho
        return best, bound

    def _at(self, rho: float, active: ActiveHinges) -> tuple[RampPoint, _Line, float]:
        """The program with rho given: its minimiser, the line from its dual, its value."""
        problem, tol = self._kinked(active, rho), _FIRST_TOL
        while True:
            solution = self._solve(problem, tol)
            self._beta, gap = solution.model.beta, self.lam * solution.model.gap
            if gap <= 0.5 * self._gap or tol < _FINEST_TOL or not solution.converged:
                break
            tol /= 10
        point = self._point(self._beta, solution.model.g, solution.model.intercept, rho)
        value = point.penalty + self.loss.majoriser(point.f, rho, active)
        return point, _Line(rho, value - gap, self._slope(self._beta, active)), value

    def _solve(self, problem: KinkedQP, tol: float) -> Solution:
        """The solution of a kinked program, from the last one."""
        settings: dict[str, Any] = {"tol": tol, "cache_bytes": self._cache_bytes, "polish": True}
        if self._features is not None:
            if not self._pairs_are_slow:
                pairs = _PAIRS[0] + _PAIRS[1] * len(problem)
                quick = solve_smo(problem, self._rows, max_iter=pairs, start=self._beta, **settings)
                if quick.converged:
                    return quick
            # Pairs are slow where features have different scales, which do not matter to an interior point method.
            self._pairs_are_slow = True
            exact = self._in_features(problem, tol)
            if exact is not None and exact.converged:
                return exact
        return solve_smo(problem, self._rows, max_iter=-1, start=self._beta, **settings)

    def _in_features(self, problem: KinkedQP, tol: float) -> Solution | None:
        """The solution by the interior point method; None where the numbers are beyond it."""
        try:
            return solve_linear(problem, self._features, tol=tol)
        except ValueError:
            return None

    def _boxes(self, active: ActiveHinges) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Lower and upper ends, each of x' and x''."""
        lower, upper, y = [], [], self.loss.y
        for height, on in ((self.loss.outer, active.outer), (self.loss.inner, active.inner)):
            most = height / (self.lam * self.loss.mu)
            lower.append(np.where(y > 0, -most * on, most * (on - 1)))
            upper.append(np.where(y > 0, most * (1 - on), most * on))
        return (lower[0], lower[1]), (upper[0], upper[1])

    def _kinked(self, active: ActiveHinges, rho: float) -> KinkedQP:
        """The program in ``x' + x''``: the outer ramp's part grows first, since its slope is larger."""
        lower, upper = self._boxes(active)
        positive, mu = self.loss.y > 0, self.loss.mu
        return KinkedQP(
            lower=lower[0] + lower[1],
            kink=np.where(positive, upper[0] + lower[1], lower[0] + upper[1]),
            upper=upper[0] + upper[1],
            below=np.where(positive, mu + rho, rho - mu),
            above=np.where(positive, mu - rho, -mu - rho),
        )

    def _slope(self, beta: Floats, active: ActiveHinges) -> float:
        """The slope lam z of a sum x' + x''."""
        lower, upper = self._boxes(active)
        positive = self.loss.y > 0
        outer = np.where(positive, np.minimum(beta - lower[1], upper[0]), np.maximum(beta - upper[1], lower[0]))
        slope = self.lam * float(self.loss.y @ (2 * outer - beta))
        # Where V is flat, as it is far out if every case is rejected, rounding must not say that it falls.
        steepest = float((self.loss.outer + self.loss.inner).sum()) / self.loss.mu
        return slope if abs(slope) > _ROUNDING * steepest else 0.0

    def _point(self, beta: Floats, g: Floats, b: float, rho: float) -> RampPoint:
        square = float(beta @ g)
        if square < -1e-10 * float(np.abs(beta).sum()) ** 2 * float(np.abs(self._rows.diagonal).max()):
            raise ValueError(
                f"penalty='l2' found a score of squared norm {square:.3g}: the kernel is not positive semidefinite on "
                "these cases. Use penalty='l1', which needs no norm, or another kernel."
            )
        return RampPoint(beta, g + b, b, rho, self.lam * 0.5 * square)


def _lower_bound(falling: _Line | None, rising: _Line | None, rho_min: float) -> float:
    """What the lines prove about the minimum of V; that it is not negative is known anyway."""
    if rising is None:
        return 0.0
    return max(rising(rho_min if falling is None else _meeting(falling, rising)), 0.0)


def _next_width(falling: _Line | None, rising: _Line | None, rho_min: float, *, by_slopes: bool) -> float:
    """The next rho to try."""
    if falling is None:
        return rho_min
    if rising is None:
        return 2 * falling.at
    even = falling.at - falling.slope * (rising.at - falling.at) / (rising.slope - falling.slope)
    return min(max(even if by_slopes else _meeting(falling, rising), falling.at), rising.at)


def _meeting(falling: _Line, rising: _Line) -> float:
    return falling.at + (rising(falling.at) - falling.value) / (falling.slope - rising.slope)
