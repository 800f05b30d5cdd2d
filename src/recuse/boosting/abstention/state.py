"""A boosting problem, and everything that changes while it is solved: weights of the stumps, scores, sample weights.

Symbols as in `rounds`; the sample weights w1 and w2 are kept up to date by multiplication, without an exponential a
row, and recomputed from the scores now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ..binning import Bins
from .losses import CLIP, Surrogate
from .stumps import Coded, Search, cell_labels, make_family

_LN2 = np.log(2.0)
_ROWS = 65_536  # rows of which copies are made at once
_WORTH_A_THREAD = 50_000  # rows from which an update in threads outweighs waking them


@dataclass(frozen=True, eq=False)
class Problem:
    """Data of one fit, positives first.

    Attributes
    ----------
    bins : Bins
        Coded features.
    n_pos : int
        Number of positives.
    s : ndarray of shape (m,)
        Sample weights that sum to 1.
    surrogate : Surrogate
        The loss; its k may differ by case.
    offset : ndarray of shape (m, 2), optional
        Scores (h, r) to start from; the stumps are added to them.
    """

    bins: Bins
    n_pos: int
    s: Floats
    surrogate: Surrogate
    offset: Floats | None = None

    def take(self, rows: Indices) -> Problem:
        """Return the problem of some of the rows, given in increasing order."""
        k = self.surrogate.k
        surrogate = self.surrogate if np.ndim(k) == 0 else replace(self.surrogate, k=np.asarray(k)[rows])
        s = self.s[rows]
        offset = None if self.offset is None else self.offset[rows]
        return Problem(self.bins.take(rows), int((rows < self.n_pos).sum()), s / s.sum(), surrogate, offset)

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Return the problems of training and of test cases."""
        return self.take(train), self.take(test)

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.s)

    @property
    def y(self) -> Floats:
        """Labels, -1 or +1."""
        return np.where(np.arange(len(self.s)) < self.n_pos, 1.0, -1.0)


@dataclass(frozen=True)
class Settings:
    """How to solve it; the names are those of the estimator.

    `certify_every` is the number of rounds between two readings of objective and gap; 0 chooses it by the size of
    the data. `p_schedule` lists the exponents to go through when the surrogate is a smoothed maximum, in equal shares
    of the first `p_rounds` rounds, by default of all.
    """

    family: str = "coupled"
    gamma: float = 0.0
    n_rounds: int = 200
    beta: float = 0.0
    learning_rate: float = 1.0
    step: str = "joint"
    corrective: bool = False
    tol: float = 1e-6
    free_h: bool = True
    free_r: bool = True
    n_threads: int = 1
    certify_every: int = 0
    p_schedule: tuple[float, ...] = ()
    p_rounds: int | None = None


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Weighted stumps: the model of a `Solution`."""

    stumps: list[Coded]
    weights: Floats
    h0: float
    r0: float
    values: Floats

    def tables(self, bins: Bins) -> tuple[Floats, Floats]:
        """Contributions to h and to r of every cell of every feature, without the intercepts."""
        h, r = np.zeros(bins.n_cells), np.zeros(bins.n_cells)
        for stump, weight in zip(self.stumps, self.weights, strict=True):
            cells = slice(bins.offsets[stump[0]], bins.offsets[stump[0] + 1])
            labels = cell_labels(stump, int(bins.n_bins[stump[0]]))
            h[cells] += weight * self.values[labels, 0]
            r[cells] += weight * self.values[labels, 1]
        return h, r


def _spreader(threads: ThreadPoolExecutor | None, n_threads: int) -> Callable[[Callable[[int, int], Any], int], None]:
    """Return what calls ``function(first, last)`` over 0 .. n, in as many pieces as there are threads.

    A bare pool, since a round takes a millisecond: handing it two pieces of work takes 15 microseconds, while
    ``joblib.Parallel`` with threads takes 400, and then looks for their results every 10 milliseconds only.
    """

    def spread(function: Callable[[int, int], Any], n: int) -> None:
        if threads is None or n == 1:
            function(0, n)
            return
        ends = np.linspace(0, n, n_threads + 1).astype(int).tolist()
        *others, own = [(a, b) for a, b in pairwise(ends) if a < b]
        jobs = [threads.submit(function, a, b) for a, b in others]
        function(*own)  # the calling thread would only wait
        for job in jobs:
            job.result()

    return spread


@dataclass
class State:
    """Everything that changes during a fit."""

    problem: Problem
    settings: Settings
    threads: ThreadPoolExecutor | None = None
    alpha: dict[Coded, float] = field(default_factory=dict)
    h0: float = 0.0
    r0: float = 0.0

    def __post_init__(self) -> None:
        from . import loops

        self._loops = loops
        problem, m = self.problem, len(self.problem.s)
        self.family = make_family(self.settings.family, self.settings.gamma)
        self.surrogate = problem.surrogate
        self.spread = _spreader(self.threads, self.settings.n_threads)
        self.search = Search(problem.bins, self.family, problem.n_pos, self.spread)
        self.h_table, self.r_table = np.zeros(problem.bins.n_cells), np.zeros(problem.bins.n_cells)
        self.w = np.empty((m, 2))
        self.logistic = self.surrogate.loss == "logistic"
        self.multiplicative = self.surrogate.p == 1.0 and not self.settings.p_schedule
        # w1 = unit s e and w2 = unit s kb e for the exponential loss, e / (1 + e) in place of e for the logistic one,
        # where e is e^u and e^v.
        self.unit = 1.0 / _LN2 if self.logistic else 1.0
        self.kb = np.broadcast_to(self.surrogate.k * self.surrogate.b, (m,))
        self.growth = np.empty((m, 2)) if self.logistic and self.multiplicative else self.w
        self.refresh()

    @property
    def total_weight(self) -> float:
        """Sum of the stumps' weights."""
        return float(sum(self.alpha.values()))

    def scores(self, start: int = 0, stop: int | None = None) -> tuple[Floats, Floats]:
        """Scores h and r of the rows start <= i < stop, all by default."""
        stop = len(self.problem.s) if stop is None else stop
        h, r = np.full(stop - start, self.h0), np.full(stop - start, self.r0)
        if self.problem.offset is not None:
            h += self.problem.offset[start:stop, 0]
            r += self.problem.offset[start:stop, 1]
        b = self.problem.bins
        self._loops.add_tables(b.codes, b.offsets, self.h_table, self.r_table, h, r, start, stop)
        return h, r

    def refresh(self) -> None:
        """Recompute the weights from the scores."""
        if self.multiplicative:
            for rows in self.blocks():
                self._refresh(rows.start, rows.stop)
            return
        h, r = self.scores()
        w1, w2 = self.surrogate.slopes(r - self.problem.y * h, -self.surrogate.b * r)
        self.w[:, 0], self.w[:, 1] = self.problem.s * w1, self.problem.s * w2

    def _refresh(self, start: int, stop: int) -> None:
        rows = slice(start, stop)
        h, r = self.scores(start, stop)
        y = np.where(np.arange(start, stop) < self.problem.n_pos, 1.0, -1.0)
        self.growth[rows, 0] = np.exp(np.clip(r - y * h, -CLIP, CLIP))
        self.growth[rows, 1] = np.exp(np.clip(-self.surrogate.b * r, -CLIP, CLIP))
        self._weigh(rows)

    def _weigh(self, rows: slice) -> None:
        """Weights from the current e^u and e^v."""
        if self.logistic:
            np.divide(self.growth[rows], 1.0 + self.growth[rows], out=self.w[rows])
        self.w[rows] *= self.scale(rows)

    def scale(self, rows: slice = slice(None)) -> Floats:
        """What e, or e / (1 + e), is multiplied by to give the weights."""
        first = self.unit * self.problem.s[rows]
        return np.column_stack([first, first * self.kb[rows]])

    def objective(self) -> float:
        """F at the current weights."""
        penalty = self.settings.beta * self.total_weight
        if not self.multiplicative:
            return self.surrogate.objective(self.problem.y, self.problem.s, *self.scores()) + penalty
        share = np.array([1.0, 1.0 / self.surrogate.b])
        if not self.logistic:
            return float(self.w.sum(axis=0) @ share) + penalty
        return penalty + sum(
            float((self.scale(rows) * np.log1p(self.growth[rows])).sum(axis=0) @ share) for rows in self.blocks()
        )

    def blocks(self) -> Iterator[slice]:
        """Rows in parts small enough to make copies of."""
        m = len(self.problem.s)
        return (slice(start, min(start + _ROWS, m)) for start in range(0, m, _ROWS))

    def _totals(self) -> tuple[float, float, float]:
        n_pos = self.problem.n_pos
        return float(self.w[:n_pos, 0].sum()), float(self.w[n_pos:, 0].sum()), float(self.w[:, 1].sum())

    def settle_intercepts(self) -> None:
        """Move h0 and r0 to their optimum given the stumps."""
        free_h, free_r = self.settings.free_h, self.settings.free_r
        if not (free_h or free_r):
            return
        if self.logistic and self.multiplicative:
            dh, dr = self._newton_intercepts(free_h, free_r)
        elif self.multiplicative:
            dh, dr = self._exponential_intercepts(free_h, free_r)
        else:
            dh, dr = self._smooth_intercepts(free_h, free_r)
        self.shift(dh, dr)

    def _exponential_intercepts(self, free_h: bool, free_r: bool) -> tuple[float, float]:
        positive, negative, reject = self._totals()
        dh = 0.5 * np.log(positive / negative) if free_h else 0.0
        mass = positive * np.exp(-dh) + negative * np.exp(dh)
        dr = np.log(reject / mass) / (1.0 + self.surrogate.b) if free_r else 0.0
        return float(dh), float(dr)

    def _smooth_intercepts(self, free_h: bool, free_r: bool) -> tuple[float, float]:
        """Newton on the smoothed maximum, which is convex in (h0, r0)."""
        free, (h, r) = np.array([free_h, free_r]), self.scores()
        y, s, surrogate = self.problem.y, self.problem.s, self.surrogate
        b = surrogate.b

        def arguments(at: Floats) -> tuple[Floats, Floats]:
            return r + at[1] - y * (h + at[0]), -b * (r + at[1])

        def value_of(at: Floats) -> float:
            return float(s @ surrogate.values(*arguments(at)))

        def derivatives(at: Floats) -> tuple[Floats, Floats]:
            u, v = arguments(at)
            w1, w2 = surrogate.slopes(u, v)
            uu, uv, vv = surrogate.curvatures(u, v)
            mixed = -float((s * y) @ (uu - b * uv))
            hessian = np.array([[float(s @ uu), mixed], [mixed, float(s @ (uu - 2 * b * uv + b * b * vv))]])
            return np.array([-float((s * y) @ w1), float(s @ (w1 - w2))]), hessian

        z = np.zeros(2)
        value = value_of(z)
        for _ in range(200):
            g, H = derivatives(z)
            d = np.zeros(2)
            d[free] = -np.linalg.solve(H[np.ix_(free, free)] + 1e-12 * H.trace() * np.eye(free.sum()), g[free])
            decrement = -float(g[free] @ d[free])
            if not decrement > 1e-18 * value:
                break
            step = min(1.0, 2.0 / np.abs(d).max())
            new = value_of(z + step * d)
            while not new <= value - 1e-4 * step * decrement and step > 1e-10:
                step *= 0.5
                new = value_of(z + step * d)
            if not new < value:
                break
            z, value = z + step * d, new
        return float(z[0]), float(z[1])

    def _newton_intercepts(self, free_h: bool, free_r: bool) -> tuple[float, float]:
        free = np.array([free_h, free_r])
        z, g, H = np.zeros(2), np.empty(2), np.empty((2, 2))

        def evaluate(at: Floats) -> float:
            terms = self._loops.intercept_terms
            n_pos, b = self.problem.n_pos, self.surrogate.b
            return float(terms(self.growth, self.problem.s, self.kb, self.unit, n_pos, b, at[0], at[1], g, H))

        value = evaluate(z)
        for _ in range(50):
            d = np.zeros(2)
            d[free] = -np.linalg.solve(H[np.ix_(free, free)] + 1e-14 * H.trace() * np.eye(free.sum()), g[free])
            decrement = -float(g[free] @ d[free])
            if decrement <= 1e-22 * value:
                break
            step = min(1.0, 5.0 / np.abs(d).max())
            new = evaluate(z + step * d)
            while new > value - 1e-4 * step * decrement and step > 1e-10:
                step *= 0.5
                new = evaluate(z + step * d)
            if new >= value:
                break
            z, value = z + step * d, new
        return float(z[0]), float(z[1])

    def shift(self, dh: float, dr: float) -> None:
        """Add constants to h and r."""
        self.h0 += dh
        self.r0 += dr
        if not self.multiplicative:
            self.refresh()
            return
        n_pos = self.problem.n_pos
        factors = np.exp([dr - dh, dr + dh, -self.surrogate.b * dr])
        self.growth[:n_pos, 0] *= factors[0]
        self.growth[n_pos:, 0] *= factors[1]
        self.growth[:, 1] *= factors[2]
        if self.logistic:
            for rows in self.blocks():
                self._weigh(rows)

    def apply(self, stump: Coded, eta: float, dh: float, dr: float) -> None:
        """Add eta to a stump's weight and (dh, dr) to the intercepts."""
        weight = self.alpha.get(stump, 0.0) + eta
        self.alpha[stump] = weight
        if weight <= 0.0:
            del self.alpha[stump]
        self.h0 += dh
        self.r0 += dr
        f, b = stump[0], self.problem.bins
        labels = cell_labels(stump, int(b.n_bins[f]))
        h, r = eta * self.family.values.T  # by label
        cells = slice(b.offsets[f], b.offsets[f + 1])
        self.h_table[cells] += h[labels]
        self.r_table[cells] += r[labels]
        if self.multiplicative:
            self._grow(b.codes[f], labels, h + dh, r + dr)
        else:
            self.refresh()

    def _grow(self, row: NDArray[Any], labels: NDArray[np.int64], h: Floats, r: Floats) -> None:
        """Multiply e^u and e^v of each row by the factor of its cell's label: no exponential a row is needed."""
        factors = np.exp(np.clip([r - h, r + h, -self.surrogate.b * r], -CLIP, CLIP)).take(labels, axis=1)
        n_pos = self.problem.n_pos

        def work(first: int, last: int) -> None:
            for of_class, part in ((0, slice(first, min(last, n_pos))), (1, slice(max(first, n_pos), last))):
                arguments = row[part], self.w[part], factors[of_class], factors[2]
                if self.logistic:
                    scale = self.problem.s[part], self.kb[part], self.unit
                    self._loops.grow_logistic(*arguments, self.growth[part], *scale)
                else:
                    self._loops.grow_exponential(*arguments)

        if len(row) < _WORTH_A_THREAD:
            work(0, len(row))
        else:
            self.spread(work, len(row))

    def set_weights(self, stumps: list[Coded], weights: Floats, h0: float, r0: float) -> None:
        """Replace the whole model."""
        self.alpha = {stump: float(a) for stump, a in zip(stumps, weights, strict=True) if a > 0.0}
        self.h0, self.r0 = h0, r0
        self.h_table, self.r_table = self.ensemble().tables(self.problem.bins)
        self.refresh()

    def ensemble(self) -> Ensemble:
        """Return the model so far."""
        weights = np.array(list(self.alpha.values()), dtype=float)
        return Ensemble(list(self.alpha), weights, self.h0, self.r0, self.family.values)
