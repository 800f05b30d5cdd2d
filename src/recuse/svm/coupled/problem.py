"""The program behind two coupled one-class machines, one for each class.

A case has the scores ``F+ = <w+, phi>`` and ``F- = <w-, phi>`` and the margin ``m = y (F+ - F-)``. The primal problem
is eq. (2)-(3) of the paper with the slack variables eliminated,

    minimise  1/2 |w+|^2 - rho+ + sum_{y=+1} a_i (rho+ - F+_i)_+
            + 1/2 |w-|^2 - rho- + sum_{y=-1} a_i (rho- - F-_i)_+
            + sum_i g_i (rho - m_i)_+ + u_i (-rho - m_i)_+

and its dual (9), with ``w+ = sum_{y=+1} alpha_i phi_i + s``, ``w- = sum_{y=-1} alpha_i phi_i - s`` and
``s = sum_i y_i (gamma_i + mu_i) phi_i``,

    minimise  Q = 1/2 |w+|^2 + 1/2 |w-|^2   subject to   sum_{y=+1} alpha = sum_{y=-1} alpha = 1,  sum gamma = sum mu,
              0 <= alpha_i <= a_i,  0 <= gamma_i <= g_i,  0 <= mu_i <= u_i.

The primal optimum is -Q. The derivative of Q by alpha_i is the case's score in the machine of its own class, called F
here, that by gamma_i or mu_i its margin m: these two numbers per case are all the solvers look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...costs import Costs
from ..qp.problem import best_shift

_LEAST_UNIT = 1e-6  # the gap is compared with Q, or with this share of the kernel's diagonal where Q is nearly 0


@dataclass(frozen=True, eq=False)
class CoupledQP:
    """Labels and upper bounds of the dual variables, all of shape (n,).

    Attributes
    ----------
    y : ndarray
        -1 or +1; the positive cases come first, as in the paper.
    cap_a, cap_g, cap_m : ndarray
        The bounds a, g, u of alpha, gamma, mu: the weights of the three kinds of slack in the primal.
    """

    y: Floats
    cap_a: Floats
    cap_g: Floats
    cap_m: Floats

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_pos(self) -> int:
        """Number of positive cases."""
        return int(np.count_nonzero(self.y > 0))

    def caps(self) -> tuple[Floats, Floats, Floats]:
        """The bounds, in the order the compiled loops take them."""
        return self.cap_a, self.cap_g, self.cap_m

    def take(self, rows: NDArray[Any]) -> CoupledQP:
        """The bounds of these cases, given in ascending order."""
        return CoupledQP(self.y[rows], self.cap_a[rows], self.cap_g[rows], self.cap_m[rows])

    def without_band(self) -> CoupledQP:
        """The same program with rho = 0: each case has one slack, of both weights together.

        Half of the sum for either is the same, since with equal weights the terms are even in rho, and least at 0.
        """
        half = 0.5 * (self.cap_g + self.cap_m)
        return CoupledQP(self.y, self.cap_a, half, half.copy())


@dataclass(eq=False)
class CoupledPoint:
    """Values of the dual variables, each of shape (n,)."""

    alpha: Floats
    gamma: Floats
    mu: Floats

    def copy(self) -> CoupledPoint:
        """A point of its own."""
        return self.take(slice(None))

    def take(self, rows: Any) -> CoupledPoint:
        """The variables of these cases."""
        return CoupledPoint(self.alpha[rows].copy(), self.gamma[rows].copy(), self.mu[rows].copy())

    def put(self, rows: Any, part: CoupledPoint) -> None:
        """Write the variables of these cases."""
        self.alpha[rows], self.gamma[rows], self.mu[rows] = part.alpha, part.gamma, part.mu

    def values(self) -> tuple[Floats, Floats, Floats]:
        """The variables, in the order the compiled loops take them."""
        return self.alpha, self.gamma, self.mu

    def difference(self, y: Floats) -> Floats:
        """Coefficients of ``w+ - w-``; those of ``w+ + w-`` are alpha."""
        return y * (self.alpha + 2.0 * (self.gamma + self.mu))

    def coefficients(self, y: Floats) -> Floats:
        """Coefficients of w- and w+, two rows."""
        total, difference = self.alpha, self.difference(y)
        return np.array([total - difference, total + difference]) / 2.0


@dataclass(frozen=True, eq=False)
class CoupledCertificate:
    """What is known about a point: the thresholds that are best for it, and both objectives.

    Attributes
    ----------
    rho_negative, rho_positive, rho : float
        The thresholds.
    primal, dual : float
        The values of the two problems; that of the dual is -Q.
    unit : float
        What the gap is compared with.
    """

    rho_negative: float
    rho_positive: float
    rho: float
    primal: float
    dual: float
    unit: float

    @property
    def gap(self) -> float:
        """Primal minus dual: the objective is at most this far from its minimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of Q."""
        return max(self.gap, 0.0) / self.unit


@dataclass(frozen=True, eq=False)
class CoupledModel:
    """Where a solver ended."""

    point: CoupledPoint
    certificate: CoupledCertificate


def coupled_qp(y: Floats, weights: Floats, *, nu: tuple[float, float], C: float, costs: Costs) -> CoupledQP:
    """The program at given parameters.

    Parameters
    ----------
    y, weights : ndarray of shape (n,)
        Labels -1 and +1; weights of the cases.
    nu : tuple of float
        Share of the negative and of the positive cases outside their region, at most.
    C : float
        Weight of the coupling.
    costs : Costs
        Prices, whose positive class has y = +1. ``C_r`` is the reject price and ``C_e`` what an error costs more, each
        of the case's class and as a share of the largest error price: as the paper sets them where the prices are
        symmetric, and its conclusion where they are not.
    """
    positive = y > 0
    reject = np.where(positive, costs.reject_positive, costs.reject_negative)
    error = np.where(positive, costs.fn, costs.fp)
    return priced_qp(y, weights, nu=nu, C=C, prices=CasePrices(reject, error, costs.largest_error))


class CasePrices(NamedTuple):
    """Prices of rejecting each case and of the error with it, and the largest price of an error."""

    reject: Floats
    error: Floats
    largest: float


def priced_qp(y: Floats, weights: Floats, *, nu: tuple[float, float], C: float, prices: CasePrices) -> CoupledQP:
    """The program at prices by case: with three or more classes they differ inside the rest, too."""
    positive = y > 0
    totals = np.where(positive, weights[positive].sum(), weights[~positive].sum())
    shares = weights / weights.sum()
    return CoupledQP(
        y=y,
        cap_a=weights / (np.where(positive, nu[1], nu[0]) * totals),
        cap_g=C * shares * prices.reject / prices.largest,
        cap_m=C * shares * np.maximum(prices.error - prices.reject, 0.0) / prices.largest,
    )


def against_the_rest_prices(matrix: Floats, k: int, codes: Indices, weights: Floats) -> CasePrices:
    """Prices of each case in the program of class k against the rest.

    For a case of another class the error is to have it taken for k. A case of k that is taken for one of the rest
    costs what it does on average over their cases.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes + 1, n_classes + 2)
        Prices, see `Costs.matrix`.
    """
    errors, reject = matrix[:-1, :-2], matrix[:-1, -2]
    shares = np.bincount(codes, weights=weights, minlength=len(errors))
    shares[k] = 0.0
    missed = float(errors[k] @ shares / shares.sum())
    return CasePrices(reject[codes], np.where(codes == k, missed, errors[codes, k]), float(errors.max()))


def start_point(problem: CoupledQP) -> CoupledPoint:
    """A feasible point: the alphas of the first cases of each class at their bounds until they sum to 1."""
    alpha = np.zeros(len(problem))
    for cases in (slice(problem.n_pos), slice(problem.n_pos, None)):
        alpha[cases] = fill(problem.cap_a[cases], 1.0)
    return CoupledPoint(alpha, np.zeros(len(problem)), np.zeros(len(problem)))


def fill(caps: Floats, total: float) -> Floats:
    """Values at their upper bounds, one after the other, until they sum to `total`."""
    before = np.cumsum(caps) - caps
    values = np.clip(total - before, 0.0, caps)
    # With nu = 1 every bound is needed, and rounding must not leave the sum short.
    return values if values.sum() >= total or (values < caps).any() else caps * (total / caps.sum())


@dataclass(frozen=True)
class Settled:
    """What inactive cases hold: sums of the alphas of each class, and of the gammas minus the mus."""

    negative: float = 0.0
    positive: float = 0.0
    margin: float = 0.0


_NONE = Settled()


def best_thresholds(problem: CoupledQP, F: Floats, m: Floats, settled: Settled = _NONE) -> tuple[float, float, float]:
    """rho-, rho+ and rho, each by exact minimisation of the primal in one variable."""
    own, first = [], problem.n_pos
    for cases, held in ((slice(first, None), settled.negative), (slice(first), settled.positive)):
        own.append(best_shift(F[cases], problem.cap_a[cases], held - 1.0))
    if not (problem.cap_g.any() and problem.cap_m.any()):
        return own[0], own[1], 0.0
    bends, jumps = np.concatenate([m, -m]), np.concatenate([problem.cap_g, problem.cap_m])
    return own[0], own[1], best_shift(bends, jumps, settled.margin - float(problem.cap_m.sum()))


def slackness(
    problem: CoupledQP, point: CoupledPoint, F: Floats, m: Floats, thresholds: tuple[float, float, float]
) -> float:
    """The duality gap as a sum over cases: those that are settled at the right bounds add nothing to it.

    At thresholds rho-, rho+, rho other than the best it is larger.
    """
    rho_negative, rho_positive, rho = thresholds
    own = np.where(problem.y > 0, rho_positive, rho_negative)
    pairs = ((own - F, problem.cap_a, point.alpha), (rho - m, problem.cap_g, point.gamma))
    total = sum(float(cap @ np.maximum(short, 0.0) - value @ short) for short, cap, value in pairs)
    return total + float(problem.cap_m @ np.maximum(-rho - m, 0.0) - point.mu @ (-rho - m))


def dual_value(point: CoupledPoint, F: Floats, m: Floats) -> float:
    """Q, what the dual minimises."""
    return 0.5 * float(point.alpha @ F + (point.gamma + point.mu) @ m)


def unit_of_gap(Q: float, diagonal: float) -> float:
    """What the gap is compared with: Q, where it is not nothing; `diagonal` is the kernel's mean diagonal."""
    return max(Q, _LEAST_UNIT * diagonal, 1e-300)


def certify(problem: CoupledQP, point: CoupledPoint, F: Floats, m: Floats, diagonal: float) -> CoupledCertificate:
    """Evaluate a feasible point with its exact F and m; `diagonal` is the kernel's mean diagonal."""
    rho_negative, rho_positive, rho = best_thresholds(problem, F, m)
    Q = dual_value(point, F, m)
    own = np.where(problem.y > 0, rho_positive, rho_negative)
    slack = (
        problem.cap_a @ np.maximum(own - F, 0.0)
        + problem.cap_g @ np.maximum(rho - m, 0.0)
        + problem.cap_m @ np.maximum(-rho - m, 0.0)
    )
    primal = Q - rho_positive - rho_negative + float(slack)
    return CoupledCertificate(rho_negative, rho_positive, rho, primal, -Q, unit_of_gap(Q, diagonal))
