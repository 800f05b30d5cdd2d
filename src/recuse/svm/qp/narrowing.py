"""A linear kernel on very many cases: the interior point method on those near a kink, and all others held on an end.

The score decides at which end a variable is, unless it is close to where two ends meet. A sample of the cases gives
scores that are nearly right, and with them the cases whose variables are in doubt; the program in these alone, with
what the others add to the weights of the features, is a small one. One product with all cases then shows which of the
held variables are on the wrong end after all. They join the others, until there are none: the certificate is that of
the whole program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Flags, Floats, Indices
from ...solution import Solution
from ..kernels import centred
from .convergence import finish
from .interior_point import refuse_overflow, shifted_back, solve_in
from .problem import Held, KinkedQP
from .smoothing import distances, refined_scores
from .spaces import FeatureSpace, transposed

MANY = 20_000  # cases from which on narrowing pays
_SAMPLE = (2_500, 0.02)  # of each class to begin with: a number, or a larger share
_SAMPLE_TOL = 1e-2
_IN_DOUBT = 0.03  # share of the cases that are worked on first
_LARGEST_SHARE = 0.5  # from which on all cases are
_MOST_ROUNDS = 10


def solve_narrowed(problem: KinkedQP, X: Any, *, tol: float) -> Solution:
    """Minimise the program with ``K = X X'`` as `solve_linear` does; on all cases where most are in doubt."""
    Z = centred(X)  # the intercept takes up the shift of the scores
    refuse_overflow(Z)
    f, n_iter = _first_scores(problem, Z)
    share = _IN_DOUBT
    in_doubt = _nearest(problem, f, share)
    for _ in range(_MOST_ROUNDS):
        held = problem.ends(f)
        if share > _LARGEST_SHARE or np.count_nonzero(in_doubt) > _LARGEST_SHARE * len(problem):
            break
        if not _can_balance(problem, held, in_doubt):
            share *= 2
            in_doubt = _nearest(problem, f, share)
            continue
        solution = _round(problem, Z, held, np.flatnonzero(in_doubt), tol)
        n_iter += solution.n_iter
        if solution.converged:
            return shifted_back(replace(solution, n_iter=n_iter), X, Z)
        found = solution.model.g + solution.model.intercept
        wrong = ~in_doubt & (problem.ends(found) != held)
        if not wrong.any():  # those in doubt are not solved to the tolerance: nothing to be gained here
            break
        if np.count_nonzero(wrong) > np.count_nonzero(in_doubt):  # the optimum is not among these: look around more
            share *= 4
            in_doubt = _nearest(problem, f, share)
        else:
            f, in_doubt = found, in_doubt | wrong
    whole = solve_in(problem, FeatureSpace(Z), tol=tol)
    return shifted_back(replace(whole, n_iter=n_iter + whole.n_iter), X, Z)


def _first_scores(problem: KinkedQP, Z: Any) -> tuple[Floats, int]:
    """Scores from a part of each class that counts for all of it, made better on all cases; and the steps it took."""
    sample, factor = _sample(problem)
    part = problem.take(sample).scaled(factor)
    cases = Z[sample]
    rough = solve_in(part, FeatureSpace(cases), tol=_SAMPLE_TOL)
    w = transposed(cases, rough.model.beta)
    return refined_scores(problem, Z, w, rough.model.intercept), rough.n_iter


def _sample(problem: KinkedQP) -> tuple[Indices, Floats]:
    """Positions of some cases of each class, in ascending order, and how many they stand for, by weight."""
    rng, width = np.random.default_rng(0), problem.upper - problem.lower
    chosen, factors = [], []
    for cases in (np.flatnonzero(problem.upper > 0), np.flatnonzero(problem.upper <= 0)):
        size = min(max(_SAMPLE[0], int(_SAMPLE[1] * len(cases))), len(cases))
        part = np.sort(rng.choice(cases, size, replace=False))
        chosen.append(part)
        factors.append(np.full(size, width[cases].sum() / width[part].sum()))
    order = np.argsort(np.concatenate(chosen))
    return np.concatenate(chosen)[order], np.concatenate(factors)[order]


def _nearest(problem: KinkedQP, f: Floats, share: float) -> Flags:
    """The share of the cases whose scores are nearest to where their variable changes ends."""
    distance = distances(problem, f)
    count = min(int(share * len(f)), len(f) - 1)
    return distance <= np.partition(distance, count)[count]


def _can_balance(problem: KinkedQP, held: Floats, in_doubt: Flags) -> bool:
    """Whether the variables in doubt can make the sum 0, with room to spare."""
    missing = -float(held[~in_doubt].sum())
    return bool(problem.lower[in_doubt].sum() < missing < problem.upper[in_doubt].sum())


def _round(problem: KinkedQP, Z: Any, ends: Floats, rows: Indices, tol: float) -> Solution:
    """Solve for the variables at these rows, with all others on their ends, and evaluate the whole."""
    beta = ends.copy()
    beta[rows] = 0.0
    held = Held(transposed(Z, beta), float(beta.sum()), float(problem.gain(beta).sum()))
    part, cases = problem.take(rows), Z[rows]
    inside = solve_in(part, FeatureSpace(cases, held), tol=tol)
    beta[rows] = inside.model.beta
    g = np.asarray(Z @ (held.scores + transposed(cases, inside.model.beta))).ravel()
    return finish(problem, beta, g, inside.n_iter, tol)
