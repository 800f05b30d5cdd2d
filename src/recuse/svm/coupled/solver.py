"""How the coupled program is minimised: by pairs inside three groups, in blocks where there are many cases.

A round takes the cases whose variables violate the optimality conditions most, solves the program in them alone with
the compiled inner solver, and adds the kernel rows of those that moved to ``T = K alpha`` and ``D = K (coefficients of
w+ - w-)``; every score and margin follows from these two. Cases all of whose variables are settled are taken out
(shrinking) and examined again before the end. The solver stops on the duality gap, which is evaluated in the end
at scores recomputed in double precision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...solution import Solution
from ..kernels import Kernel
from ..qp.blocks import random_part
from ..rows import FINEST_SINGLE_TOL, WHOLE, MatrixRows, VectorRows, kernel_source
from . import loops
from .newton import free_steps
from .problem import (
    CoupledModel,
    CoupledPoint,
    CoupledQP,
    Settled,
    best_thresholds,
    certify,
    dual_value,
    slackness,
    start_point,
    unit_of_gap,
)

_FINEST_SINGLE = 1e-6  # down to this tolerance rows are in single precision to begin with
_BLOCK = 512
_LARGEST_BLOCK = 4096
_SMALL = 500  # up to this size the kernel matrix is computed whole in any case
_PATIENCE = 5  # rounds before settled cases are taken out, and again
_BAR = 0.3  # share of the largest violation that a block may leave: less is soon undone by the others
_LARGEST_WHOLE = 1600  # so many active cases are one block, whose kernel values are kept
_STEPS = (500, 10)  # most pairs before all free variables are moved: a constant, and a number per case
_SAME_COST = 40  # or more, where a move of all, some n^3 / 40 operations, costs as much as they do
_FURTHER = 1.8  # where most of a block is free, pairs undo a part of each other: fewer steps if each goes further
_MOST_TURNS = 20
_MOST_SETBACKS = 3
_ROUNDING = 1e-13
_POLISHED = 1e-12
_NEAR = 3.0  # a gap of at most this many times tol is measured exactly
_FINEST = 1e-14  # violations below this share of the kernel's diagonal are rounding


def coupled_source(
    X: Any, kernel: Kernel, *, cache_bytes: int, tol: float, several: bool = False
) -> MatrixRows | VectorRows:
    """How kernel rows are obtained: few of them are needed, so the whole matrix pays for small problems only.

    With `several` programs on these cases rows are kept from one to the next.
    """
    coarse = tol >= _FINEST_SINGLE
    # The sums are recomputed in double precision at the end, and the rows go over to it where that shows an error.
    reachable = max(tol, FINEST_SINGLE_TOL) if coarse else tol
    whole = _SMALL if coarse else WHOLE
    return kernel_source(X, kernel, cache_bytes=cache_bytes, tol=reachable, whole=whole, several=several)


def solve_coupled(
    problem: CoupledQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    start: CoupledPoint | None = None,
    nonnegative: bool = False,
) -> Solution:
    """Minimise the program to a duality gap of `tol` times Q.

    Parameters
    ----------
    problem : CoupledQP
    rows : MatrixRows or VectorRows
        Source of the kernel matrix.
    tol : float
        Largest gap between primal and dual, as a share of Q.
    max_iter : int
        Most steps by pairs; -1 for no limit.
    start : CoupledPoint, optional
        Feasible point to start from.
    nonnegative : bool, default=False
        Whether rho must not be negative. The program is convex: where its rho is negative, 0 is then best.

    Returns
    -------
    Solution
        Its model is a `CoupledModel`, its residual the relative gap.
    """
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    point = start_point(problem) if start is None else start.copy()
    if isinstance(rows, MatrixRows) and len(problem) <= WHOLE:
        # Small problems are finished to the last digits: steps in all free variables make it cheap.
        target = min(tol, _POLISHED) if len(problem) <= _SMALL else tol
        n_iter = _whole(problem, rows, point, target, limit)
        F, m = exact_scores(problem, rows, point)
    else:
        run = _Run(problem, rows, point)
        n_iter = run.to_the_end(tol, limit)
        F, m = run.scores()
    facts = certify(problem, point, F, m, float(rows.diagonal.mean()))
    if nonnegative and facts.rho < 0:
        return _without_band(problem, rows, point, tol=tol, max_iter=max_iter, n_iter=int(n_iter))
    gap = facts.relative_gap
    return Solution(CoupledModel(point, facts), facts.primal, gap, int(n_iter), gap <= tol)


def _without_band(
    problem: CoupledQP, rows: Any, point: CoupledPoint, *, tol: float, max_iter: int, n_iter: int
) -> Solution:
    """The solution with rho = 0, from the alphas of another after `n_iter` steps."""
    zeros = np.zeros(len(problem))
    start = CoupledPoint(point.alpha, zeros, zeros)
    again = solve_coupled(problem.without_band(), rows, tol=tol, max_iter=max_iter, start=start)
    model = replace(again.model, certificate=replace(again.model.certificate, rho=0.0))  # up to rounding, it is 0
    return replace(again, model=model, n_iter=n_iter + again.n_iter)


def exact_sums(problem: CoupledQP, rows: Any, point: CoupledPoint) -> tuple[Floats, Floats]:
    """``K alpha`` and ``K difference`` in double precision."""
    sums = rows.scores(_columns(problem, point))
    return np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1])


def _columns(problem: CoupledQP, point: CoupledPoint) -> Floats:
    """Coefficients of ``w+ + w-`` and ``w+ - w-``, a column each."""
    return np.column_stack([point.alpha, point.difference(problem.y)])


def scores(y: Floats, total: Floats, difference: Floats) -> tuple[Floats, Floats]:
    """F, each case's score in the machine of its class, and its margin m."""
    m = y * difference
    return (total + m) / 2.0, m


def exact_scores(problem: CoupledQP, rows: Any, point: CoupledPoint) -> tuple[Floats, Floats]:
    """F and m from the variables, in double precision."""
    return scores(problem.y, *exact_sums(problem, rows, point))


def _whole(problem: CoupledQP, rows: MatrixRows, point: CoupledPoint, tol: float, limit: int) -> int:
    """All cases as one block, with a finer bar for the violations until the gap is small enough.

    Where neither gap nor Q has become smaller a few times, rounding is all that is left to work on.
    """
    diagonal = float(rows.diagonal.mean())
    bar, n_iter, setbacks, least, lowest = np.inf, 0, 0, np.inf, np.inf
    best = point.copy()
    while True:
        F, m = exact_scores(problem, rows, point)
        facts = certify(problem, point, F, m, diagonal)
        gap = facts.relative_gap
        progress = gap <= 0.9 * least or -facts.dual < lowest - _ROUNDING * facts.unit
        setbacks = 0 if progress else setbacks + 1
        lowest = min(lowest, -facts.dual)
        if gap < least:
            least = gap
            best.put(slice(None), point)
        if least <= tol or n_iter >= limit or setbacks > _MOST_SETBACKS:
            point.put(slice(None), best)
            return n_iter
        bar = max(finer(bar, facts.unit, gap, tol), _FINEST * diagonal)
        n_iter += _solve_square(problem, rows.K, point, F, m, bar, limit - n_iter)


def _solve_square(
    problem: CoupledQP,
    K: NDArray[Any],
    point: CoupledPoint,
    F: Floats,
    m: Floats,
    bar: float,
    limit: int,
    further: float = 1.0,
) -> int:
    """Pairs on a square kernel matrix, with steps in all free variables where they take long; the number of steps."""
    n, n_iter = len(problem), 0
    caps, variables = loops.Variables(*problem.caps()), loops.Variables(*point.values())
    for _ in range(_MOST_TURNS):
        most = min(limit - n_iter, _STEPS[0] + max(_STEPS[1], n // _SAME_COST) * n)
        pace = loops.Pace(float(bar), int(most), float(further))
        steps, violation = loops.coupled_smo(K, problem.n_pos, caps, variables, F, m, pace)
        n_iter += steps
        if violation <= bar or n_iter >= limit or steps < most:
            break
        n_iter += free_steps(problem, K, point, F, m)
    return n_iter


def finer(bar: float, unit: float, gap: float, tol: float) -> float:
    """Largest violation to leave next: as much smaller as the gap must become."""
    if np.isinf(bar):
        return unit * min(10.0 * tol, 0.1)
    return bar * float(np.clip(0.5 * tol / gap, 0.02, 0.5))


class _Run:
    """State of a decomposition: the active cases with their sums T and D, and the last state of the others."""

    def __init__(self, problem: CoupledQP, rows: Any, point: CoupledPoint) -> None:
        self.problem, self.rows, self.point = problem, rows, point
        self.n_iter = 0
        self.fresh = False  # whether the sums were recomputed since the last step
        self.stuck = False  # whether more steps would not help
        self._diagonal = float(rows.diagonal.mean())
        self._random = np.random.default_rng(0)
        self._setbacks = 0
        self._last_gap = np.inf
        self._unit: float
        self._patience: int
        self._square: NDArray[Any] | None = None  # kernel values among the active cases, once they are one block
        self._exact_coef, self._exact_sums = np.zeros((len(problem), 2)), np.zeros((len(problem), 2))
        self._T, self._D = np.zeros((2, len(problem)))
        # Rows that are needed to start with are needed again when their cases move.
        self._add(np.arange(len(problem)), point.alpha, point.difference(problem.y))
        self._activate_all()

    def to_the_end(self, tol: float, limit: int) -> int:
        """Rounds until the gap is at most `tol`; returns the number of steps. The sums are then fresh."""
        while True:
            violation, gap = self.survey(tol)
            # A little less than tol while the sums are inexact, so that the recomputed ones need not be improved.
            if gap <= (tol if self.fresh else 0.9 * tol) or self.n_iter >= limit or self.stuck:
                if self.fresh:
                    return self.n_iter
                self.recompute(tol)
            elif not self.shrink() and self.improve(_BAR * violation, limit) == 0:
                self.refine()  # no pair can move: values that overflow in single precision
                self.refresh()

    def scores(self) -> tuple[Floats, Floats]:
        """F and m of the active cases."""
        return scores(self._part.y, self._T, self._D)

    @property
    def shrunk(self) -> bool:
        """Whether some cases have been taken out."""
        return len(self._part) < len(self.problem)

    def survey(self, tol: float) -> tuple[float, float]:
        """The largest violation among the active cases, and their share of the gap, or a bound on it far from `tol`."""
        part, mine = self._part, self._mine
        self._F, self._m = self.scores()
        self._moves = loops.Moves(*np.empty((4, len(part))))
        caps, variables = loops.Variables(*part.caps()), loops.Variables(*mine.values())
        found = loops.violations(part.n_pos, caps, variables, self._F, self._m, self._moves)
        violation, middle = found[0], found[1:]
        # The best thresholds take a sort, which is worth it near the end only.
        if not self.fresh and np.isfinite(middle).all():
            bound = self._gap(middle)
            if bound > _NEAR * tol:
                return violation, bound
        return violation, self._gap(best_thresholds(part, self._F, self._m, self._settled))

    def _gap(self, thresholds: tuple[float, float, float]) -> float:
        """The active cases' share of the gap at given thresholds."""
        return slackness(self._part, self._mine, self._F, self._m, thresholds) / self._unit

    def improve(self, target: float, limit: int) -> int:
        """Solve the program in one block and carry the moves over to the sums; returns the number of steps."""
        if len(self._part) <= _LARGEST_WHOLE:
            return self._improve_all(target, limit)
        block = self._select()
        part, before = self._part.take(block), self._mine.take(block)
        after = before.copy()
        F, m = self._F[block], self._m[block]
        left, further = limit - self.n_iter, self._further(part)
        steps = _solve_square(part, self.rows.square(block), after, F, m, target, left, further)
        self.n_iter += steps
        self.fresh = False
        self._mine.put(block, after)
        self._add(block, after.alpha - before.alpha, after.difference(part.y) - before.difference(part.y))
        return steps

    def _improve_all(self, target: float, limit: int) -> int:
        """The same with every active case in the block, whose scores are then all that is needed for the sums."""
        if self._square is None:
            self._square = self.rows.square(np.arange(len(self._part)))
        left, further = limit - self.n_iter, self._further(self._part)
        steps = _solve_square(self._part, self._square, self._mine, self._F, self._m, target, left, further)
        self.n_iter += steps
        self.fresh = False
        self._T, self._D = 2.0 * self._F - self._m, self._part.y * self._m
        return steps

    def _further(self, block: CoupledQP) -> float:
        """How far pairs go, as a share of the way to the minimum along them."""
        return _FURTHER if 2 * self._n_free() > len(block) else 1.0

    def _add(self, cases: Indices, total: Floats, difference: Floats) -> None:
        """Add changes of the coefficients of active cases to the sums."""
        for change, sums in ((total, self._T), (difference, self._D)):
            moved = np.flatnonzero(change)
            self.rows.add(cases[moved], change[moved], sums)

    def shrink(self) -> bool:
        """Every few rounds, take the settled cases out; return whether any were."""
        self._patience -= 1
        if self._patience > 0:
            return False
        self._patience = _PATIENCE
        kept = np.flatnonzero((np.array(self._moves) >= 0).any(axis=0))
        if len(kept) > 0.7 * len(self._part):
            return False
        self._store()
        self.rows.keep(kept)
        self._T, self._D = self._T[kept], self._D[kept]
        self._activate(self.rows.active)
        return True

    def recompute(self, tol: float) -> None:
        """Refresh the sums; finer rows where the gap has not become much smaller since the last time."""
        self.refresh()
        _, gap = self.survey(tol)
        stalled = gap > max(tol, 0.5 * self._last_gap)
        self._last_gap = gap
        if stalled:
            self.refine()

    def refresh(self) -> None:
        """Sums from the variables in double precision, with every case active."""
        self._store()
        self.rows.reset()
        # Only what has moved since the last time is multiplied again: far fewer rows the second time.
        coef = _columns(self.problem, self.point)
        self._exact_sums += self.rows.scores(coef - self._exact_coef)
        self._exact_coef = coef
        self._T, self._D = self._exact_sums.T.copy()
        self._activate_all()
        self.fresh = True

    def refine(self) -> None:
        """Rows in double precision from here on; where they already are, give up after a few times."""
        if self.shrunk:
            self.refresh()
        self._square = None
        if self.rows.refine():
            self._last_gap = np.inf
        else:
            self._setbacks += 1
            self.stuck = self._setbacks >= _MOST_SETBACKS

    def _select(self) -> Indices:
        """A block of cases, in ascending order: of each group and direction the largest violations, and others."""
        alphas, margins = self._moves[:2], self._moves[2:]
        positive, every = self._part.y > 0, np.ones(len(self._part), dtype=bool)
        lists = [(moves, of) for of in (positive, ~positive) for moves in alphas]
        lists += [(moves, every) for moves in margins]
        # Room for every free case, or blocks would undo each other's work: half of a list is drawn, and lists overlap.
        size = min(max(_BLOCK, 4 * self._n_free()), _LARGEST_BLOCK)
        quota = size // (2 * len(lists)) + 1
        chosen = []
        for moves, of in lists:
            violating = np.flatnonzero(of & (moves > 0))
            chosen += [_largest(moves, violating, quota), random_part(self._random, violating, quota)]
        return np.unique(np.concatenate(chosen))

    def _n_free(self) -> int:
        """Number of active cases with a variable inside its box."""
        pairs = zip(self._mine.values(), self._part.caps(), strict=True)
        return int(np.count_nonzero(np.any([(value > 0) & (value < cap) for value, cap in pairs], axis=0)))

    def _activate_all(self) -> None:
        self._patience = _PATIENCE
        self._activate(np.arange(len(self.problem)))
        self._unit = unit_of_gap(dual_value(self._mine, *self.scores()), self._diagonal)

    def _activate(self, active: Indices) -> None:
        """Work with these cases from here on."""
        self._part, self._mine = self.problem.take(active), self.point.take(active)
        self._square = None
        first, out = self.problem.n_pos, np.ones(len(self.problem), dtype=bool)
        out[active] = False
        alpha = np.where(out, self.point.alpha, 0.0)
        margin = float((self.point.gamma - self.point.mu)[out].sum())
        self._settled = Settled(float(alpha[first:].sum()), float(alpha[:first].sum()), margin)

    def _store(self) -> None:
        """Write the active variables back into the full point."""
        self.point.put(self.rows.active, self._mine)


def _largest(values: Floats, among: Indices, count: int) -> Indices:
    """Those of the positions `among` with the largest values, at most `count`."""
    if len(among) <= count:
        return among
    return among[np.argpartition(values[among], len(among) - count)[len(among) - count :]]
