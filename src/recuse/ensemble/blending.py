"""How much each member counts: log-odds combined with weights that are never negative.

Given the log-odds z_ik that member k has for case i, which it was not fitted to, the blend has the log-odds
b + sum_k w_k z_ik. Minimised is

    sum_i s_i log(1 + exp(-y_i (b + sum_k w_k z_ik))) / sum_i s_i  +  strength sum_k (w_k - mean(w))^2
        +  ridge (sum_k w_k)^2,   w >= 0,

a convex problem. Members on a small table cannot be told apart, and an equal share for each is hard to beat; the
penalty keeps to it unless the cases speak against it, and leaves the size of the weights, which calibrates the blend,
to the cases; the small ridge keeps it finite where the members separate the classes. `greedy` is the alternative that
libraries of models often use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from ..arrays import Flags, Floats

RIDGE = 3e-4
_NEGLIGIBLE = 0.25  # members with a smaller part of an equal share are left out: every answer waits for them
_SAME = 1e-9  # log-odds closer than this are equal


class Blend(NamedTuple):
    """Weights of the members.

    Attributes
    ----------
    weights : ndarray of shape (n_members,)
        Never negative.
    intercept : float, or ndarray of shape (n_classes,)
        What is added to the sum.
    objective : float
        What was minimised.
    residual : float
        Largest violation of its optimality conditions; NaN where there are none (greedy selection).
    """

    weights: Floats
    intercept: Any
    objective: float
    residual: float

    def log_odds(self, members: Floats) -> Floats:
        """Log-odds of the blend; `members` has one row per case and one column per member.

        With three or more classes log-probabilities, of which `members` has a row per member and a column per class.
        """
        if members.ndim == 3:
            return np.einsum("imk,m->ik", members, self.weights) + self.intercept
        odds: Floats = members @ self.weights + self.intercept
        return odds


def stack_few(members: Floats, positive: Flags, weights: Floats, *, strength: float) -> Blend:
    """`stack`, and once more with the members that count for something; the others have the weight 0."""
    return with_few(lambda some: stack(some, positive, weights, strength=strength), members)


def with_few(stack: Callable[[Floats], Blend], members: Floats) -> Blend:
    """A blend of members, made once more of those that count for something; the others have the weight 0."""
    blend = stack(members)
    counts = blend.weights >= _NEGLIGIBLE * blend.weights.mean()
    if counts.all() or not counts.any():
        return blend
    fewer = stack(members[:, counts])
    shares = np.zeros(len(counts))
    shares[counts] = fewer.weights
    return fewer._replace(weights=shares)


def stack(members: Floats, positive: Flags, weights: Floats, *, strength: float) -> Blend:
    """Minimise the log loss with weights that are never negative, shrunk towards equal ones.

    Parameters
    ----------
    members : ndarray of shape (n_cases, n_members)
        Log-odds of held-out cases.
    positive : ndarray of bool of shape (n_cases,)
        Which of them are positive.
    weights : ndarray of shape (n_cases,)
        Their weights.
    strength : float
        Of the shrinkage; 0 for none.
    """
    # A member that says the same of every case tells nothing: a share of the weight would only hide the others.
    tells = np.ptp(members, axis=0) > _SAME
    found = _minimise(members[:, tells], positive, weights, strength)
    spread = np.zeros(members.shape[1])
    spread[tells] = found.weights
    return found._replace(weights=spread)


def _minimise(members: Floats, positive: Flags, weights: Floats, strength: float) -> Blend:
    n_members = members.shape[1]
    shares, targets = weights / weights.sum(), positive.astype(np.float64)

    def loss_and_slope(parameters: Floats) -> tuple[float, Floats]:
        w, z = parameters[:-1], members @ parameters[:-1] + parameters[-1]
        value = -(shares @ (targets * log_expit(z) + (1 - targets) * log_expit(-z)))
        excess, unequal = shares * (expit(z) - targets), w - w.sum() / max(n_members, 1)
        total = float(w.sum())
        slope = np.append(excess @ members + 2 * strength * unequal + 2 * RIDGE * total, excess.sum())
        return float(value + strength * (unequal @ unequal) + RIDGE * total**2), slope

    start = np.append(np.full(n_members, 1 / max(n_members, 1)), 0.0)
    bounds = [(0.0, None)] * n_members + [(None, None)]
    options = {"gtol": 1e-9, "ftol": 1e-14, "maxiter": 2000, "maxfun": 4000}
    found = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    value, slope = loss_and_slope(found.x)
    # At a weight of 0 the slope may point upwards: only a fall would be a violation.
    violation = np.where((found.x <= 0.0) & (np.arange(len(slope)) < n_members), np.minimum(slope, 0.0), slope)
    return Blend(found.x[:-1].copy(), float(found.x[-1]), value, float(np.abs(violation).max()))


def greedy(members: Floats, positive: Flags, weights: Floats, *, steps: int = 40) -> Blend:
    """Add, one at a time and with repetition, the member whose mean with those before has the least log loss.

    (Caruana, Niculescu-Mizil, Crew and Ksikes, 2004, with log loss as the measure.)
    """
    shares, targets = weights / weights.sum(), positive.astype(np.float64)

    def losses(candidates: Floats) -> Floats:
        gain: Floats = shares @ (
            targets[:, None] * log_expit(candidates) + (1 - targets[:, None]) * log_expit(-candidates)
        )
        return -gain

    total, counts = np.zeros(len(members)), np.zeros(members.shape[1])
    best_counts, best = counts, np.inf
    for step in range(1, steps + 1):
        tried = losses((total[:, None] + members) / step)
        chosen = int(np.argmin(tried))
        counts = counts.copy()
        counts[chosen] += 1
        total = total + members[:, chosen]
        if tried[chosen] < best - 1e-12:
            best_counts, best = counts, float(tried[chosen])
    return Blend(best_counts / best_counts.sum(), 0.0, best, float("nan"))
