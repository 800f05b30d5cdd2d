"""How much each member counts with three or more classes: log-probabilities combined with weights never negative.

Given the calibrated log-probabilities z_imk that member m has for class k of case i, which it was not fitted to, the
blend has the probabilities softmax_k(b_k + sum_m w_m z_imk). Minimised is

    sum_i s_i (-log softmax_{y_i}(b + sum_m w_m z_im)) / sum_i s_i  +  strength sum_m (w_m - mean(w))^2
        +  ridge ((sum_m w_m)^2 + sum_k b_k^2),   w >= 0,

a convex problem: that of two classes, see `blending`, with one weight per member for all classes.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from ..arrays import Floats, Indices
from .blending import RIDGE, Blend, with_few
from .cases import Outcomes


def log_loss_of_classes(log_probabilities: Floats, outcomes: Outcomes) -> float:
    """Mean negative log-likelihood of the outcomes, of scores that need not be normalised."""
    found = log_softmax(log_probabilities, axis=1)[np.arange(len(outcomes.codes)), outcomes.codes]
    return float(-np.average(found, weights=outcomes.weights))


def stack_few_classes(members: Floats, outcomes: Outcomes, *, strength: float) -> Blend:
    """`stack_classes`, and once more with the members that count for something."""
    return with_few(lambda some: stack_classes(some, outcomes, strength=strength), members)


def stack_classes(members: Floats, outcomes: Outcomes, *, strength: float) -> Blend:
    """Minimise the log loss with weights that are never negative, shrunk towards equal ones.

    Parameters
    ----------
    members : ndarray of shape (n_cases, n_members, n_classes)
        Log-probabilities of held-out cases.
    outcomes : Outcomes
        Their classes and weights.
    strength : float
        Of the shrinkage; 0 for none.
    """
    n, n_members, n_classes = members.shape
    shares = outcomes.weights / outcomes.weights.sum()
    truth = _one_hot(outcomes.codes, n_classes)

    def loss_and_slope(parameters: Floats) -> tuple[float, Floats]:
        w, b = parameters[:n_members], parameters[n_members:]
        log_p = log_softmax(np.einsum("imk,m->ik", members, w) + b, axis=1)
        value = -(shares @ log_p[np.arange(n), outcomes.codes])
        excess = shares[:, None] * (np.exp(log_p) - truth)
        unequal, total = w - w.mean(), float(w.sum())
        slope_w = np.einsum("imk,ik->m", members, excess) + 2 * strength * unequal + 2 * RIDGE * total
        slope_b = excess.sum(axis=0) + 2 * RIDGE * b
        value += strength * (unequal @ unequal) + RIDGE * (total**2 + b @ b)
        return float(value), np.append(slope_w, slope_b)

    start = np.append(np.full(n_members, 1 / n_members), np.zeros(n_classes))
    bounds = [(0.0, None)] * n_members + [(None, None)] * n_classes
    options = {"gtol": 1e-9, "ftol": 1e-14, "maxiter": 2000, "maxfun": 4000}
    found = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    value, slope = loss_and_slope(found.x)
    at_zero = (found.x <= 0.0) & (np.arange(len(slope)) < n_members)
    violation = np.where(at_zero, np.minimum(slope, 0.0), slope)
    return Blend(found.x[:n_members].copy(), found.x[n_members:].copy(), value, float(np.abs(violation).max()))


def greedy_classes(members: Floats, outcomes: Outcomes, *, steps: int = 40) -> Blend:
    """Add, one at a time and with repetition, the member whose mean with those before has the least log loss."""
    n, n_members, n_classes = members.shape
    total, counts = np.zeros((n, n_classes)), np.zeros(n_members)
    best_counts, best = counts, np.inf
    for step in range(1, steps + 1):
        tried = [log_loss_of_classes((total + members[:, m]) / step, outcomes) for m in range(n_members)]
        chosen = int(np.argmin(tried))
        counts = counts.copy()
        counts[chosen] += 1
        total = total + members[:, chosen]
        if tried[chosen] < best - 1e-12:
            best_counts, best = counts, tried[chosen]
    return Blend(best_counts / best_counts.sum(), np.zeros(n_classes), best, float("nan"))


def _one_hot(codes: Indices, n_classes: int) -> Floats:
    truth = np.zeros((len(codes), n_classes))
    truth[np.arange(len(codes)), codes] = 1.0
    return truth
