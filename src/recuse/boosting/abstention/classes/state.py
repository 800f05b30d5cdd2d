"""The state of a fit: jumps and intercepts of every output, and the predicted masses that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Floats
from ....compiling import without_collector
from ...binning import Bins
from .problem import ClassProblem, softmax

_NEWTON_STEPS, _SETTLED = 20, 1e-13
_STRETCHED, _LONGEST = 1.3, 30.0  # by how much more the next step is stretched, and at most


@dataclass(frozen=True, eq=False)
class Cut:
    """The most useful cut of all features.

    Attributes
    ----------
    feature, position : int
        The feature, and after which bin the cut is; the number of bins for known against missing values.
    gain : float
        By how much it lowers the objective at least.
    violation : float
        How far the jumps of all cuts are from being optimal, at most.
    """

    feature: int
    position: int
    gain: float
    violation: float


@dataclass(frozen=True, eq=False)
class ClassModel:
    """What was boosted.

    Attributes
    ----------
    jumps : ndarray of shape (J, cells)
        By how much the score of an output changes at the cut right of a cell; in the cell of missing values by how much
        theirs differs from the lowest bin's.
    intercept : ndarray of shape (J,)
        Scores left of all cuts.
    """

    jumps: Floats
    intercept: Floats

    def tables(self, bins: Bins) -> Floats:
        """What every cell of every feature adds to each score: shape (cells, J)."""
        tables = np.zeros((bins.n_cells, len(self.intercept)))
        for f, n in enumerate(bins.n_bins.tolist()):
            base = int(bins.offsets[f])
            tables[base + 1 : base + n] = self.jumps[:, base : base + n - 1].T.cumsum(axis=0)
            tables[base + n] = self.jumps[:, base + n]
        return tables

    def scores(self, problem: ClassProblem) -> Floats:
        """Scores of the cases of a problem: shape (m, J)."""
        bins, tables = problem.bins, self.tables(problem.bins)
        scores = np.tile(self.intercept, (problem.n_cases, 1))
        for f in np.flatnonzero(self.used(bins)).tolist():
            scores += tables[int(bins.offsets[f]) + bins.codes[f].astype(np.intp)]
        return scores if problem.offset is None else scores + problem.offset

    def used(self, bins: Bins) -> Floats:
        """Which features have a jump."""
        changed = (self.jumps != 0.0).any(axis=0)
        return np.array([changed[a:b].any() for a, b in zip(bins.offsets[:-1], bins.offsets[1:], strict=True)], bool)

    @property
    def n_jumps(self) -> int:
        """Cuts at which some score jumps."""
        return int((self.jumps != 0.0).any(axis=0).sum())


class ClassState:
    """A fit on its way."""

    def __init__(self, problem: ClassProblem) -> None:
        from . import loops  # an answer never loads the compiler

        self.problem, self._loops = problem, without_collector(loops)
        bins, n = problem.bins, problem.n_outputs
        self.weight = problem.weight
        self.wanted = problem.wanted_by_cell()
        self.total = self.wanted.sum(axis=0)
        self.asked = problem.wanted.sum(axis=0)  # wanted mass of every output; 0 for one that does not move
        self.jumps = np.zeros((n, bins.n_cells))
        self.intercept = self._start()
        if problem.fixed_last:
            self.asked[-1] = self.intercept[-1] = 0.0
        n_blocks = (n + 2) // 4  # of the first J - 1 outputs
        self._mass = np.zeros((n_blocks, problem.n_cases, 4))
        self._last = np.zeros(problem.n_cases)
        self._hist = np.zeros((n_blocks, bins.n_cells, 4))
        self._predicted = np.zeros((n, bins.n_cells))
        self._gains, self._found = np.zeros(bins.n_cells), np.zeros((len(bins.n_bins), 3))
        self._steps, self._factors = np.zeros((2, n)), np.ones((2, n))
        self._stretch = 1.0
        self._layout = (bins.offsets, bins.n_bins, bins.has_missing, self.total)
        self.refresh()

    def _start(self) -> Floats:
        """Intercepts that are right before any cut, unless there are scores to start from.

        An output that no case wants gets what half the lightest case would: a class that this fold has no cases of.
        """
        least = 0.5 * float(self.weight.min())
        start: Floats = np.log(np.maximum(self.asked, least))
        if self.problem.offset is not None:
            start = np.where(self.asked > 0.0, 0.0, np.log(least))
        return start

    def refresh(self) -> None:
        """Compute the masses from the scores, and settle the intercepts."""
        shares = softmax(self.model.scores(self.problem)) * self.weight[:, None]
        self._put(self._settled(shares))

    def settle(self) -> None:
        """Settle the intercepts."""
        self._put(self._settled(self.masses))

    def settled_model(self) -> ClassModel:
        """The model as it would be if the fit ended here: with settled intercepts; the state stays as it is."""
        before = self.intercept
        self._settled(self.masses)
        model, self.intercept = self.model, before
        return model

    @property
    def masses(self) -> Floats:
        """Predicted mass of every output at every row: shape (m, J)."""
        n = self.problem.n_outputs
        first = self._mass.transpose(1, 0, 2).reshape(len(self._last), -1)[:, : n - 1]
        return np.column_stack([first, self._last])

    def _put(self, masses: Floats) -> None:
        n = self.problem.n_outputs
        for j in range(n - 1):
            self._mass[j // 4, :, j % 4] = masses[:, j]
        self._last[:] = masses[:, -1]

    def _settled(self, masses: Floats) -> Floats:
        """The masses with the best intercepts, by Newton steps that are halved until they descend."""
        free = self.asked > 0.0
        for _ in range(_NEWTON_STEPS):
            slope = np.where(free, masses.sum(axis=0) - self.asked, 0.0)
            if np.abs(slope).max() <= _SETTLED:
                break
            hessian = np.diag(masses.sum(axis=0)) - (masses / self.weight[:, None]).T @ masses
            hessian = hessian[np.ix_(free, free)]
            hessian += np.eye(len(hessian)) * 1e-12 * max(float(np.trace(hessian)), 1e-300) + 1.0 / len(hessian) ** 2
            step = np.zeros(len(free))
            step[free] = -np.linalg.solve(hessian, slope[free])
            moved = self._descended(masses, slope, step)
            if moved is None:
                break
            masses = moved
        return masses

    def _descended(self, masses: Floats, slope: Floats, step: Floats) -> Floats | None:
        """The masses after the longest of the halved steps that lowers the loss; None if none does."""
        for _ in range(30):
            factors = np.exp(np.clip(step, -30.0, 30.0))
            total = masses @ factors
            change = float(self.weight @ np.log(total / self.weight)) - float(self.asked @ np.log(factors))
            if change < 0.0:
                self.intercept = self.intercept + np.log(factors)
                moved: Floats = masses * factors * (self.weight / total)[:, None]
                return moved
            step = step / 2
        return None

    def sweep(self, beta: float) -> Cut:
        """Sum the masses by cell, and find the cut of most gain at a penalty."""
        self._loops.class_histograms(self.problem.bins.codes, self._mass, self._hist, self.problem.bins.offsets)
        self._loops.predicted_cells(self._hist, self.total, self._predicted)
        first = slice(0, int(self.problem.bins.offsets[1]))  # every row is in one cell of the first feature
        self._sums = np.stack([self._predicted[:, first].sum(axis=1), self.asked])
        self._loops.scan_classes(
            self._predicted,
            self.wanted,
            self._sums,
            self.jumps,
            self._layout,
            beta,
            self._gains,
            self._found,
        )
        f = int(self._found[:, 0].argmax())
        return Cut(f, int(self._found[f, 1]), float(self._found[f, 0]), float(self._found[:, 2].max()))

    def move(self, cut: Cut, beta: float, rate: float) -> None:
        """Step at a cut, with the intercepts.

        The bound that a step minimises is loose where the probabilities are close to 0 and 1: so steps are stretched,
        the further the longer this goes well. One that lowers the objective by less than the plain step is sure to is
        taken back.
        """
        stretch = self._stretch if rate == 1.0 else rate
        change = self._step(cut, beta, stretch)
        if stretch <= 1.0:
            self._stretch = _STRETCHED
        elif change <= -cut.gain:
            self._stretch = min(stretch * _STRETCHED, _LONGEST)
        else:
            self._step_back(cut)
            self._stretch = max(1.0, stretch / 2)
            self._step(cut, beta, 1.0)

    def _step(self, cut: Cut, beta: float, stretch: float) -> float:
        """Step at a cut; return the change of the objective."""
        bins = self.problem.bins
        base, n = int(bins.offsets[cut.feature]), int(bins.n_bins[cut.feature])
        at = base + cut.position
        cells = slice(at, at + 1) if cut.position == n else slice(at + 1, base + n)
        right = np.stack([self._predicted[:, cells].sum(axis=1), self.wanted[:, cells].sum(axis=1)])
        change = self._loops.class_steps(
            self._sums, right, self.jumps[:, at], beta, stretch, self._steps, self._factors
        )
        change += self._multiply(cut, self._factors)
        self._before = self.intercept, self.jumps[:, at].copy()
        self.intercept = self.intercept + self._steps[0]
        self.jumps[:, at] += self._steps[1]
        return float(change)

    def _step_back(self, cut: Cut) -> None:
        """Take the last step back."""
        at = int(self.problem.bins.offsets[cut.feature]) + cut.position
        self._multiply(cut, 1.0 / self._factors)
        self.intercept, self.jumps[:, at] = self._before

    def _multiply(self, cut: Cut, factors: Floats) -> float:
        """Multiply the masses by the factors of the sides of a cut; return the change of the logarithms of sums."""
        bins = self.problem.bins
        n = int(bins.n_bins[cut.feature])
        first, last = (n - 1, n) if cut.position == n else (cut.position, n - 1)
        of_blocks = np.zeros((2, len(self._mass), 4))
        of_blocks.reshape(2, -1)[:, : self.problem.n_outputs - 1] = factors[:, :-1]
        sides = (of_blocks, factors[:, -1].copy())
        changed: float = self._loops.update_masses(
            bins.codes[cut.feature], first, last, sides, self.weight, self._mass, self._last
        )
        return changed

    @property
    def model(self) -> ClassModel:
        """The model so far."""
        return ClassModel(self.jumps.copy(), self.intercept.copy())

    def objective(self, beta: float) -> float:
        """The objective."""
        return self.problem.loss(self.model.scores(self.problem)) + beta * float(np.abs(self.jumps).sum())

    def dual_gap(self, beta: float, violation_free: float) -> float:
        """An upper bound of the distance to the optimum; the intercepts are settled.

        `violation_free` is the largest rate at which a jump changes the loss. Shrunk to the penalty, the gradients of
        the cases are a point of the dual problem, whose value is sum_i w_i H(q_i) - u_i o_i with the entropy H of the
        shares q_i that belong to them and the start o_i. Without a penalty the gap is that to the best model whose
        jumps add up to no more than these.
        """
        scores = self.model.scores(self.problem)
        size, weight = float(np.abs(self.jumps).sum()), self.weight[:, None]
        if beta == 0.0:
            slopes = float((self._slopes() * self.jumps).sum())
            return slopes + size * violation_free
        share = min(1.0, beta / violation_free) if violation_free > 0.0 else 1.0
        wanted = self.problem.wanted / weight
        q = share * softmax(scores) + (1.0 - share) * wanted
        entropy = -float((weight * q * np.log(np.maximum(q, 1e-300))).sum())
        start = np.where(self.asked > 0.0, 0.0, self.intercept)  # of outputs that do not move
        if self.problem.offset is not None:
            start = start + self.problem.offset
        of_start = float((weight * (q - wanted) * start).sum())
        return max(0.0, self.problem.loss(scores) + beta * size - entropy - of_start)

    def _slopes(self) -> Floats:
        """Rate of change of the loss with every jump, at settled intercepts: shape (J, cells)."""
        bins, difference = self.problem.bins, self._predicted - self.wanted
        slopes = np.zeros_like(difference)
        for f, n in enumerate(bins.n_bins.tolist()):
            base = int(bins.offsets[f])
            beyond = difference[:, base + 1 : base + n][:, ::-1].cumsum(axis=1)[:, ::-1]
            slopes[:, base : base + n - 1] = beyond
            slopes[:, base + n] = difference[:, base + n]
        return slopes

    def steepest(self) -> float:
        """Largest rate at which a jump changes the loss."""
        return float(np.abs(self._slopes()[self.asked > 0.0]).max(initial=0.0))
