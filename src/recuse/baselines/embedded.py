"""EmbeddedRejectSVC: Fumera and Roli's support vector machine with embedded reject option."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator

from ..arrays import Floats
from ..base import stopped_early, warn_not_converged
from ..costs import Costs
from ..parameters import check_count, check_positive, is_number
from ..solution import Solution
from ..svm.base import KernelMachineMixin, check_kernel_parameters, store_input
from ..svm.kernels import require_semidefinite

_STEEPNESS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_RANK = 1e-9  # eigenvalues of the kernel matrix below this share of the largest are rounding


class EmbeddedRejectSVC(KernelMachineMixin, BaseEstimator):
    """ER-SVM: a maximum margin classifier whose reject band is learned with it.

    The score f, a kernel expansion with an intercept b, and the half-width eps of the band, 0 <= eps <= 1, minimise

        1/2 |f|^2 + C sum_i w_i [ step(m_i, eps) + kappa (1 - m_i)_+^2 ],      m_i = y_i f(x_i),

    where a margin costs 0 from 1 on, w_C between eps and 1, w_R in the band and w_E below it. Reject where
    ``|f| <= eps``.

    The steps are neither convex nor continuous. The paper solves a dual of this problem, which has a gap; here the
    primal is minimised with smoothed steps, steeper and steeper, each time from the last solution.

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. They set, by class, ``w_R = w_C + r (1 - w_C)`` and
        ``w_E = w_C + c (1 - w_C)`` for a rejection of price r and an error of price c, in units of the cheaper error.
    C : float, default=1.0
        Weight of the losses against the norm.
    margin_cost : float, default=0.1
        w_C in [0, 1): what a correct answer costs inside the margin.
    kappa : float, default=0.1
        Weight of the quadratic term, not negative.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `sklearn.svm.SVC`. The paper's is linear.
    gamma, degree, coef0
        As in `sklearn.svm.SVC`.
    tol : float, default=1e-3
        Largest gradient of the last smoothed objective, over C times the total weight.
    max_iter : int, default=1000
        Most steps of each of the smoothed problems.
    class_weight : dict or "balanced", optional
        Factor for the weights of each class.
    pos_label, reject_label, on_reject
        As in every reject-option classifier.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the reject band.
    thresholds_ : tuple of float
        ``(-epsilon_, epsilon_)``.
    support_, support_vectors_, dual_coef_, intercept_, coef_
        The expansion, as in `DoubleHingeSVC`. It is not sparse: every case takes part.
    objective_ : float
        The objective with true steps.
    residual_ : float
        What `tol` is compared with.
    n_iter_ : int
        Steps done.

    Notes
    -----
    It takes all eigenvectors of the kernel matrix: a baseline for up to a few thousand cases.

    References
    ----------
    G. Fumera, F. Roli, "Support vector machines with embedded reject option", 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse.baselines import EmbeddedRejectSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = EmbeddedRejectSVC(costs=0.2).fit(X[:400], y[:400])
    >>> 0 <= model.epsilon_ <= 1, model.score(X[400:], y[400:]) > 0.9
    (True, True)
    """

    def __init__(
        self,
        costs: Costs | float = 0.2,
        *,
        C: float = 1.0,
        margin_cost: float = 0.1,
        kappa: float = 0.1,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
    ) -> None:
        self.costs = costs
        self.C = C
        self.margin_cost = margin_cost
        self.kappa = kappa
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> EmbeddedRejectSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training cases, or the kernel values between them.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case's loss.

        Returns
        -------
        self
        """
        training, prices = self._read(X, y, sample_weight)
        weights = self.C * training.weights
        steps = _steps(prices.oriented, training.signs, weights, self.margin_cost, self.kappa)
        gram = training.kernel(training.cases, training.cases)
        if not training.kernel.semidefinite:
            require_semidefinite(gram, training.kernel)
        solution = _solve(steps, gram, tol=self.tol, max_iter=self.max_iter)
        store_input(self, X, training, prices)
        self._store_expansion(solution.model.beta, solution.model.intercept, training, balanced=False)
        self.epsilon_ = solution.model.epsilon
        self.thresholds_ = (-self.epsilon_, self.epsilon_)
        self._publish(solution)
        if not solution.converged:
            stopped = stopped_early(type(self).__name__, solution, self.tol)
            warn_not_converged(stopped, "Raise max_iter or tol, lower C, or standardise the features.")
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _check_parameters(self) -> None:
        check_positive(self, "C", "tol")
        if not is_number(self.margin_cost) or not 0 <= self.margin_cost < 1:
            raise ValueError(f"margin_cost must be a number in [0, 1); got {self.margin_cost!r}.")
        if not is_number(self.kappa) or not (np.isfinite(self.kappa) and self.kappa >= 0):
            raise ValueError(f"kappa must be a finite number, not negative; got {self.kappa!r}.")
        check_count("max_iter", self.max_iter)
        check_kernel_parameters(self)


@dataclass(frozen=True, eq=False)
class _Band:
    """Where the solver ended: the expansion, and the half-width of its reject band."""

    beta: Floats
    intercept: float
    epsilon: float


@dataclass(frozen=True, eq=False)
class _Steps:
    """The loss: labels, and for each case the heights of its three steps times its weight."""

    y: Floats
    margin: Floats
    reject: Floats
    error: Floats
    quadratic: Floats

    def smooth(self, f: Floats, eps: float, a: float) -> tuple[float, Floats, float]:
        """Loss with logistic steps of steepness a, and its derivatives by f and by eps."""
        m = self.y * f
        value, by_m, by_eps = 0.0, np.zeros(len(m)), 0.0
        for height, at, by in ((self.margin, 1.0, 0.0), (self.reject, eps, 1.0), (self.error, -eps, -1.0)):
            s = expit(a * (at - m))
            slope = height * a * s * (1 - s)
            value += float(height @ s)
            by_m -= slope
            by_eps += by * float(slope.sum())
        gap = np.maximum(1 - m, 0.0)
        value += float(self.quadratic @ gap**2)
        by_m -= 2 * self.quadratic * gap
        return value, self.y * by_m, by_eps

    def value(self, f: Floats, eps: float) -> float:
        """Loss with true steps."""
        return float(self._accepted(f)[np.abs(f) > eps].sum() + self._rejected(f)[np.abs(f) <= eps].sum()) + float(
            self.quadratic @ np.maximum(1 - self.y * f, 0.0) ** 2
        )

    def best_band(self, f: Floats) -> float:
        """Half-width in [0, 1] of least loss, midway between neighbouring scores."""
        size = np.abs(f)
        order = np.argsort(size, kind="stable")
        order = order[size[order] <= 1]
        at = size[order]
        # The loss after the band has taken in the k smallest scores; equal scores go together.
        gain = np.concatenate([[0.0], np.cumsum((self._rejected(f) - self._accepted(f))[order])])
        ends = np.concatenate([at, [1.0]])
        starts = np.concatenate([[0.0], at])
        possible = ends > starts
        possible[-1] = True  # all of them, a score of exactly 1 too
        k = int(np.flatnonzero(possible)[np.argmin(gain[possible])])
        return 0.0 if k == 0 else float(starts[k] + ends[k]) / 2

    def _accepted(self, f: Floats) -> Floats:
        m = self.y * f
        return np.where(m >= 1, 0.0, np.where(m > 0, self.margin, self.margin + self.reject + self.error))

    def _rejected(self, f: Floats) -> Floats:
        return np.where(self.y * f >= 1, 0.0, self.margin + self.reject)


def _steps(costs: Costs, y: Floats, weight: Floats, margin_cost: float, kappa: float) -> _Steps:
    r = np.where(y > 0, costs.reject_positive, costs.reject_negative)
    c = np.where(y > 0, costs.fn, costs.fp)
    part = weight * (1 - margin_cost)
    return _Steps(y, weight * margin_cost, part * r, part * (c - r), weight * kappa)


def _solve(steps: _Steps, K: Floats, *, tol: float, max_iter: int) -> Solution:
    """Minimise ever steeper smooth steps, each from the last solution; the model is a `_Band`."""
    values, vectors = np.linalg.eigh(K)
    kept = values > _RANK * max(float(values[-1]), 1e-300)
    scale = np.sqrt(values[kept])
    L = vectors[:, kept] * scale
    rank = L.shape[1]

    def smoothed(point: Floats, a: float) -> tuple[float, Floats]:
        u, b, eps = point[:rank], point[rank], point[rank + 1]
        value, by_f, by_eps = steps.smooth(L @ u + b, eps, a)
        return 0.5 * float(u @ u) + value, np.concatenate([u + L.T @ by_f, [by_f.sum(), by_eps]])

    bounds = [(None, None)] * (rank + 1) + [(0.0, 1.0)]
    point, n_iter = np.concatenate([np.zeros(rank + 1), [0.5]]), 0
    total = float(steps.margin.sum() + steps.reject.sum() + steps.error.sum())
    for a in _STEEPNESS:
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": 0.1 * tol * total, "ftol": 0.0}
        done = minimize(smoothed, point, args=(a,), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        point, n_iter = done.x, n_iter + int(done.nit)
    gradient = smoothed(point, _STEEPNESS[-1])[1]
    gradient[-1] = point[-1] - np.clip(point[-1] - gradient[-1], 0.0, 1.0)  # at a bound it may point outwards
    residual = float(np.abs(gradient).max()) / total
    u, b, eps = point[:rank], float(point[rank]), float(point[rank + 1])
    f = L @ u + b
    eps = min(eps, steps.best_band(f), key=lambda width: steps.value(f, width))
    objective = 0.5 * float(u @ u) + steps.value(f, eps)
    return Solution(_Band(vectors[:, kept] @ (u / scale), b, eps), objective, residual, n_iter, residual <= tol)
