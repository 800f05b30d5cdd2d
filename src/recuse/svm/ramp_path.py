"""Fits of the double ramp machine for many values of lam and several price lists, each started from its neighbour."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..solution import Solution
from .dc.ramps import ramp_loss
from .double_ramp import DoubleRampSVC
from .kernels import Kernel
from .paths import check_values, path_scores, price_lists


@dataclass(frozen=True, eq=False)
class DoubleRampPath:
    """Solutions over price lists and values of lam.

    Attributes
    ----------
    costs : tuple of Costs
        The price lists, n_costs of them.
    lams : ndarray of shape (n_lams,)
        The values of lam, as given.
    dual_coef : ndarray of shape (n_costs, n_lams, n_samples)
        Coefficients of the training cases.
    intercept, rho, objective, residual : ndarray of shape (n_costs, n_lams)
        As the attributes of `DoubleRampSVC` with an underscore.
    n_support : ndarray of int of shape (n_costs, n_lams)
        Number of support vectors.
    n_iter : ndarray of int of shape (n_costs, n_lams)
        Convex programs from the neighbouring solution.
    converged : ndarray of bool of shape (n_costs, n_lams)
        Whether the residual is at most tol.
    """

    costs: tuple[Costs, ...]
    lams: Floats
    dual_coef: Floats
    intercept: Floats
    rho: Floats
    objective: Floats
    residual: Floats
    n_support: Indices
    n_iter: Indices
    converged: Flags
    kernel: Kernel
    training_cases: Any

    def scores(self, X: Any) -> Floats:
        """Score f of each case under every solution, of shape (n_costs, n_lams, n_cases).

        Parameters
        ----------
        X : array-like of shape (n_cases, n_features), or (n_cases, n_samples) if precomputed
        """
        return path_scores(self, X)


def double_ramp_path(
    X: Any,
    y: Any,
    lams: Sequence[float],
    costs: Costs | float | Sequence[Costs | float] = 0.2,
    *,
    mu: float = 1.0,
    kernel: str | Callable[..., Any] = "rbf",
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 0.0,
    penalty: str = "l1",
    sample_weight: Any = None,
    class_weight: Any = None,
    pos_label: Any = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    cache_size: float = 200,
) -> DoubleRampPath:
    """Fit the double ramp machine for every lam and every price list, with warm starts.

    The kernel matrix is computed once, and one program, with its generated rows and its basis, serves all fits. Each
    descent begins at the solution for the next smaller lam, which is faster than the convex start and on most problems
    ends lower; the one for the smallest lam begins at the convex start and at the solution for the previous price list.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Training cases.
    y : array-like of shape (n_samples,)
        Two classes. Scores are for the second in sorting order, whichever the prices call positive.
    lams : sequence of float
        Values of lam, in any order; solved upwards.
    costs : Costs, float, or sequence or array of them, default=0.2
        Price lists.
    mu, kernel, gamma, degree, coef0, penalty, sample_weight, class_weight, pos_label, tol, max_iter, cache_size
        As in `DoubleRampSVC`.

    Returns
    -------
    DoubleRampPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse.svm import double_ramp_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> path = double_ramp_path(X[:400], y[:400], lams=[1e-3, 1e-2], costs=[0.1, 0.3])
    >>> path.scores(X[400:]).shape
    (2, 2, 169)
    """
    # The estimator's own checks, so that both accept the same input.
    like = DoubleRampSVC(
        mu=mu,
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        penalty=penalty,
        tol=tol,
        max_iter=max_iter,
        cache_size=cache_size,
        class_weight=class_weight,
        pos_label=pos_label,
    )
    X, signs, weights = like._check_input(X, y, sample_weight)
    values, lists = check_values(lams, "lams"), price_lists(costs)
    used, cases = like._settle(X, weights)
    oriented = [like.set_params(costs=prices)._fit_costs() for prices in lists]
    losses = [ramp_loss(prices, signs[used], weights[used], float(mu)) for prices in oriented]
    solutions = _solve_all(like, losses, values, cases)

    def each(fact: Callable[[Any], Any], dtype: Any = np.float64) -> NDArray[Any]:
        return np.array([[fact(solution) for solution in row] for row in solutions], dtype=dtype)

    _warn_if_unfinished(solutions, tol)
    coef = np.zeros((*solutions.shape, len(weights)))
    coef[:, :, used] = each(lambda s: s.model.beta)
    return DoubleRampPath(
        costs=lists,
        lams=values,
        dual_coef=coef,
        intercept=each(lambda s: s.model.intercept),
        rho=each(lambda s: s.model.rho),
        objective=each(lambda s: s.objective),
        residual=each(lambda s: s.residual),
        n_support=np.count_nonzero(coef, axis=2),
        n_iter=each(lambda s: s.n_iter, np.intp),
        converged=each(lambda s: s.converged, bool),
        kernel=like._kernel,
        training_cases=X,
    )


def _solve_all(like: DoubleRampSVC, losses: list[Any], lams: Floats, X: Any) -> NDArray[Any]:
    """The solution for each loss and lam; one program serves them all."""
    from .dc.descent import best_of

    program = like._program(losses[0], X)
    solutions = np.empty((len(losses), len(lams)), dtype=object)
    upwards = np.argsort(lams, kind="stable")
    for a, loss in enumerate(losses):
        before: Solution | None = solutions[a - 1, upwards[0]] if a > 0 else None
        starts: list[Any] = [loss.none_turned()]
        for position in upwards:
            program.reset(loss, lams[position])
            if before is not None:
                starts.append(program.moved(before.model))
            solutions[a, position] = best_of(program, starts, tol=like.tol, max_iter=like.max_iter)
            before, starts = solutions[a, position], []
    return solutions


def _warn_if_unfinished(solutions: NDArray[Any], tol: float) -> None:
    unfinished = [solution for solution in solutions.flat if not solution.converged]
    if unfinished:
        worst = max(solution.residual for solution in unfinished)
        warnings.warn(
            f"double_ramp_path stopped {len(unfinished)} of {solutions.size} fits with residuals up to {worst:.3g} > "
            f"tol={tol:g}; see `converged`. Raise max_iter or tol, or standardise the features.",
            ConvergenceWarning,
            stacklevel=3,
        )
