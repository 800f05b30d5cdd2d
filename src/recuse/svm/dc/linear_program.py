"""The linear program of a DC step with an l1 penalty, by its dual.

    minimise  lam sum_j alpha_j + majoriser(f, rho)   over  alpha >= 0,  b,  rho >= rho_min,    f = K (y alpha) + b.

With one pair (u_i, v_i) for the two ramps of a case, multiplied by ``mu`` and the number s that makes the largest
box 1, the dual is

    maximise  (mu + rho_min) sum u + (mu - rho_min) sum v
    subject to  y_j sum_i y_i K_ij (u_i + v_i) <= lam s mu    (one row for each alpha_j, its multiplier)
                y'(u + v) = 0   (b),    sum u - sum v >= 0   (rho - rho_min)
                u_i in s outer_i [-active', 1 - active'],   v_i in s inner_i [-active'', 1 - active''].

From one step to the next only the boxes change, so that the last basis stays dual feasible and the dual simplex goes on
from it. Few alpha are positive, so that few of the rows matter: they are added when they are violated, and stay. A row
with large kernel values is scaled down, and its multiplier with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Floats, Indices
from ..kernels import Kernel
from ..losses import ActiveHinges, RampLoss
from ..rows import kernel_source
from .descent import MakeProgram, RampPoint

_AT_ONCE = 20  # violated rows added before the program is solved again
_ROW_TOLERANCE = 1e-9
_ZERO = 1e-9  # coefficients below this share of the largest are rounding
_FIXED_ROWS = 2
# Largest kernel value in a row as HiGHS sees it. Its tolerances are absolute: the larger the values, the more exact a
# solution. It finds none where rounding exceeds the tolerance, so that smaller ones are next, and takes none from 1e15.
_LARGEST = (1e6, 1e3, 1.0)


class SparseProgram:
    """The linear program, kept in HiGHS from step to step, and from one lam or price list to the next.

    Parameters
    ----------
    loss : RampLoss
    rows : kernel rows
        With `row(i)` and `product(rows, columns, coef)`, as in `rows.py`.
    lam : float
    """

    balanced = False  # the coefficients need not sum to 0

    @classmethod
    def maker(
        cls, X: Any, kernel: Kernel, *, lam: float, tol: float, cache_bytes: int, several: bool = False
    ) -> MakeProgram:
        """Programs on these cases by their losses, with the same kernel rows; solutions are exact, whatever `tol`."""
        # Few rows are needed, once each: where the matrix does not fit as a whole, nothing is kept.
        whole = int(np.sqrt(cache_bytes / 8))
        rows = kernel_source(X, kernel, cache_bytes=0, tol=0.0, whole=whole, needs_norm=False)
        return lambda loss: cls(loss, rows, lam)

    def __init__(self, loss: RampLoss, rows: Any, lam: float) -> None:
        self.loss = loss
        self._rows = rows
        self._ids: list[int] = []  # the cases whose rows are in the program
        self._stack = np.empty((0, len(loss.y)))  # their kernel rows
        self._scales = np.empty(0)  # what these are multiplied by in the program
        self._largest = _LARGEST[0]
        self._highs = self._build()
        self.reset(loss, lam)

    def reset(self, loss: RampLoss, lam: float) -> None:
        """Change to another lam or other prices; the rows and the basis stay."""
        self.loss, self.lam = loss, lam
        # Prices and weights of any scale become boxes of the order of 1.
        self._unit = 1.0 / float((loss.outer + loss.inner).max())
        self._bound = lam * loss.mu * self._unit
        for place, scale in enumerate(self._scales.tolist()):
            self._highs.changeRowBounds(_FIXED_ROWS + place, -np.inf, self._bound * scale)

    def moved(self, point: RampPoint) -> RampPoint:
        """A point of another program, with its penalty in this one."""
        return replace(point, penalty=self.lam * float(np.abs(point.beta).sum()))

    def minimise(self, active: ActiveHinges) -> tuple[RampPoint, float]:
        """A minimiser and a proven lower bound of the minimum."""
        self._set_boxes(active)
        while True:
            s, multipliers = self._solve(active)
            slopes = self._slopes(s)
            if not self._add_violated(slopes):
                return self._point(multipliers), self._lower_bound(active, s, slopes)

    def _build(self) -> Any:
        """An empty program: the boxes closed, the two rows that are always there."""
        import highspy

        n, y, mu, rho_min = len(self.loss.y), self.loss.y, self.loss.mu, self.loss.rho_min
        highs = highspy.Highs()
        options: dict[str, bool | int | float | str] = {
            "output_flag": False,
            "presolve": "off",
            "solver": "simplex",
            "simplex_strategy": 1,  # dual
            "simplex_scale_strategy": 0,
            "threads": 1,
            "primal_feasibility_tolerance": _ROW_TOLERANCE,
            "dual_feasibility_tolerance": _ROW_TOLERANCE,
        }
        for name, value in options.items():
            highs.setOptionValue(name, value)
        cost = np.concatenate([np.full(n, -(mu + rho_min)), np.full(n, -(mu - rho_min))])
        none, nothing = np.zeros(2 * n), np.empty(0)
        highs.addCols(2 * n, cost, none, none, 0, np.zeros(2 * n, np.int32), nothing.astype(np.int32), nothing)
        self._columns = np.arange(2 * n, dtype=np.int32)
        balance = np.concatenate([y, y])
        band = np.concatenate([np.ones(n), -np.ones(n)])
        highs.addRow(0.0, 0.0, 2 * n, self._columns, balance)
        highs.addRow(0.0, np.inf, 2 * n, self._columns, band)
        return highs

    def _set_boxes(self, active: ActiveHinges) -> None:
        size = self._unit * np.concatenate([self.loss.outer, self.loss.inner])
        on = np.concatenate([active.outer, active.inner])
        self._highs.changeColsBounds(len(size), self._columns, -size * on, size * (1 - on))

    def _solve(self, active: ActiveHinges) -> tuple[Floats, Floats]:
        """The columns and the multipliers of the rows; with large kernel values scaled down further, if need be."""
        import highspy

        for largest in _LARGEST:
            if largest < self._largest:
                self._rebuild(largest, active)
            status = self._run()
            if status == highspy.HighsModelStatus.kOptimal:
                solution = self._highs.getSolution()
                return np.array(solution.col_value), np.array(solution.row_dual)
        raise ValueError(
            "penalty='l1' cannot be fitted to these cases: HiGHS ended a linear program as "
            f"{self._highs.modelStatusToString(status)!r}, since the kernel values are too large or too unequal. "
            "Standardise the features, take out extreme values, or use penalty='l2'."
        )

    def _run(self) -> Any:
        """How HiGHS ends: from the last basis or, if that is not the optimum, from scratch."""
        import highspy

        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._highs.clearSolver()
            self._highs.run()
        return self._highs.getModelStatus()

    def _slopes(self, s: Floats) -> Floats:
        """Left sides of all rows: what each alpha_j would gain."""
        n, y = len(self.loss.y), self.loss.y
        both = y * (s[:n] + s[n:])
        used = np.flatnonzero(both)
        return y * self._rows.product(np.arange(n), used, both[used])

    def _add_violated(self, slopes: Floats) -> bool:
        """Add the rows violated most; say whether there were any."""
        limit = self._bound + 10 * _ROW_TOLERANCE * max(1.0, self._bound)
        violated = np.flatnonzero(slopes > limit)
        violated = violated[~np.isin(violated, self._ids)]
        if not len(violated):
            return False
        most = violated[np.argsort(-slopes[violated], kind="stable")[:_AT_ONCE]]
        new = np.array([self._rows.row(int(j)) for j in most])
        self._ids += most.tolist()
        self._stack = np.vstack([self._stack, new])
        self._add_rows(most, new)
        return True

    def _add_rows(self, ids: Indices, rows: Floats) -> None:
        """Add kernel rows to the program."""
        n, scales = len(ids), _scales(rows, self._largest)
        signed = rows * scales[:, None] * self.loss.y * self.loss.y[ids, None]
        values = np.hstack([signed, signed]).ravel()
        starts = np.arange(n, dtype=np.int32) * np.int32(2 * len(self.loss.y))
        columns = np.tile(self._columns, n)
        self._highs.addRows(n, np.full(n, -np.inf), self._bound * scales, len(values), starts, columns, values)
        self._scales = np.concatenate([self._scales, scales])

    def _rebuild(self, largest: float, active: ActiveHinges) -> None:
        """The same program with kernel values up to `largest`."""
        self._largest, self._scales, self._highs = largest, np.empty(0), self._build()
        self._set_boxes(active)
        if self._ids:
            self._add_rows(np.array(self._ids), self._stack)

    def _point(self, multipliers: Floats) -> RampPoint:
        n, y = len(self.loss.y), self.loss.y
        alpha = np.maximum(-multipliers[_FIXED_ROWS:], 0.0) * self._scales
        alpha[alpha <= _ZERO * alpha.max(initial=0.0)] = 0.0
        beta = np.zeros(n)
        beta[self._ids] = y[self._ids] * alpha
        b, rho = -float(multipliers[0]), self.loss.rho_min + max(float(multipliers[1]), 0.0)
        used = np.flatnonzero(alpha)
        f = b + (y[self._ids][used] * alpha[used]) @ self._stack[used]
        return RampPoint(beta, f, b, rho, self.lam * float(alpha.sum()))

    def _lower_bound(self, active: ActiveHinges, s: Floats, slopes: Floats) -> float:
        """Value of the dual at its solution, shrunk until it meets every row: the boxes hold 0, so it stays in them."""
        n, mu, rho_min = len(self.loss.y), self.loss.mu, self.loss.rho_min
        u, v = s[:n], s[n:]
        shrink = min(1.0, self._bound / max(float(slopes.max()), 1e-300))
        dual = (mu + rho_min) * u.sum() + (mu - rho_min) * v.sum()
        return shrink * float(dual) / (self._unit * mu) + self.loss.constant(active)


def _scales(rows: Floats, largest: float) -> Floats:
    """Powers of two, exact factors, that bring rows with larger kernel values down to that size."""
    size = np.maximum(np.abs(rows).max(axis=1), largest)
    return 2.0 ** np.floor(np.log2(largest / size))
