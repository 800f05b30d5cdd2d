"""Fits for many values of C and several price lists at once, each started from its neighbour."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from ..arrays import Flags, Floats, Indices
from ..costs import Costs, as_costs
from ..labels import to_python
from ..parameters import is_number
from .double_hinge import DoubleHingeSVC
from .kernels import Kernel
from .losses import double_hinge
from .qp.problem import from_hinges


@dataclass(frozen=True, eq=False)
class DoubleHingePath:
    """Solutions over price lists and values of C.

    Attributes
    ----------
    costs : tuple of Costs
        The price lists, n_costs of them.
    Cs : ndarray of shape (n_Cs,)
        The values of C, as given.
    dual_coef : ndarray of shape (n_costs, n_Cs, n_samples)
        Coefficients of the training cases.
    intercept, objective, dual_gap, residual : ndarray of shape (n_costs, n_Cs)
        As the attributes of `DoubleHingeSVC` with an underscore.
    n_iter : ndarray of int of shape (n_costs, n_Cs)
        Steps from the neighbouring solution.
    converged : ndarray of bool of shape (n_costs, n_Cs)
        Whether the residual is at most tol, and the gap at most tol times the objective.
    """

    costs: tuple[Costs, ...]
    Cs: Floats
    dual_coef: Floats
    intercept: Floats
    objective: Floats
    dual_gap: Floats
    residual: Floats
    n_iter: Indices
    converged: Flags
    kernel: Kernel
    training_cases: Any

    def scores(self, X: Any) -> Floats:
        """Score f of each case under every solution, of shape (n_costs, n_Cs, n_cases).

        Parameters
        ----------
        X : array-like of shape (n_cases, n_features), or (n_cases, n_samples) if precomputed
        """
        return path_scores(self, X)


def path_scores(path: Any, X: Any) -> Floats:
    """Score f of each case under every solution of a path: all expansions in one sweep over the kernel values."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    width = path.training_cases.shape[1]
    if X.shape[1] != width:
        raise ValueError(f"X must have {width} columns, as in training; got {X.shape[1]}.")
    flat = path.dual_coef.reshape(-1, path.dual_coef.shape[-1])
    used = np.flatnonzero(flat.any(axis=0))
    coef = np.ascontiguousarray(flat[:, used].T)
    if path.kernel.name == "precomputed":
        f = np.asarray(X[:, used] @ coef)
    else:
        f = path.kernel.expansion(X, path.training_cases[used], coef)
    scores: Floats = f.T.reshape((*path.dual_coef.shape[:2], -1)) + path.intercept[:, :, None]
    return scores


def double_hinge_path(
    X: Any,
    y: Any,
    Cs: Sequence[float],
    costs: Costs | float | Sequence[Costs | float] = 0.2,
    *,
    kernel: str | Callable[..., Any] = "rbf",
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 0.0,
    sample_weight: Any = None,
    class_weight: Any = None,
    pos_label: Any = None,
    solver: str = "smo",
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 200,
) -> DoubleHingePath:
    """Fit the double hinge SVM for every C and every price list, with warm starts.

    The kernel matrix is computed once, and each fit starts from the solution for the neighbouring C, scaled, which
    keeps the set of every case, or from the neighbouring price list.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Training cases.
    y : array-like of shape (n_samples,)
        Two classes. Scores are for the second in sorting order, whichever the prices call positive.
    Cs : sequence of float
        Values of C, in any order; solved upwards.
    costs : Costs, float, or sequence or array of them, default=0.2
        Price lists.
    kernel, gamma, degree, coef0, sample_weight, class_weight, pos_label, solver, tol, max_iter, cache_size
        As in `DoubleHingeSVC`.

    Returns
    -------
    DoubleHingePath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse.svm import double_hinge_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> path = double_hinge_path(X[:400], y[:400], Cs=[0.1, 1.0, 10.0], costs=[0.1, 0.3])
    >>> path.scores(X[400:]).shape
    (2, 3, 169)
    """
    from .qp.interior_point import solve_linear
    from .qp.solvers import SOLVERS, kernel_source

    # The estimator's own checks, so that both accept the same input.
    like = DoubleHingeSVC(
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        cache_size=cache_size,
        class_weight=class_weight,
        pos_label=pos_label,
    )
    X, signs, weights = like._check_input(X, y, sample_weight)
    used, cases = like._settle(X, weights)
    values, lists = check_values(Cs), price_lists(costs)
    oriented = [like.set_params(costs=prices)._fit_costs() for prices in lists]
    units = [from_hinges(double_hinge(prices), signs[used], weights[used]) for prices in oriented]
    cache_bytes = int(cache_size * 2**20)
    in_features = like._in_features(cases)
    rows = None if in_features else kernel_source(cases, like._kernel, cache_bytes=cache_bytes, tol=tol)
    shape = (len(lists), len(values))
    beta = np.zeros((*shape, len(used)))
    solutions = np.empty(shape, dtype=object)
    upwards = np.argsort(values, kind="stable")
    for a, unit in enumerate(units):
        for position, c in enumerate(upwards):
            problem = unit.scaled(values[c])
            if in_features:  # its steps are few from anywhere
                solution = solve_linear(problem, cases, tol=tol, max_iter=max_iter)
            else:
                start = _start(beta, a, position, upwards, values)
                limits = {"tol": tol, "max_iter": max_iter, "cache_bytes": cache_bytes}
                solution = SOLVERS[solver](problem, rows, start=start, **limits)
            beta[a, c], solutions[a, c] = solution.model.beta, solution

    def each(fact: Callable[[Any], Any], dtype: Any = np.float64) -> NDArray[Any]:
        return np.array([[fact(solution) for solution in row] for row in solutions], dtype=dtype)

    _warn_if_unfinished(solutions, tol)
    coef = np.zeros((*shape, len(weights)))
    coef[:, :, used] = beta
    return DoubleHingePath(
        costs=lists,
        Cs=values,
        dual_coef=coef,
        intercept=each(lambda s: s.model.intercept),
        objective=each(lambda s: s.objective),
        dual_gap=each(lambda s: s.model.gap),
        residual=each(lambda s: s.residual),
        n_iter=each(lambda s: s.n_iter, np.intp),
        converged=each(lambda s: s.converged, bool),
        kernel=like._kernel,
        training_cases=X,
    )


def price_lists(costs: Any) -> tuple[Costs, ...]:
    """The price lists of a path, from one or several."""
    several = isinstance(costs, Sequence | np.ndarray) and not isinstance(costs, str) and np.ndim(costs) > 0
    lists = tuple(as_costs(to_python(c)) for c in (costs if several else [costs]))
    if not lists:
        raise ValueError("costs must hold at least one price list; got none.")
    return lists


def _warn_if_unfinished(solutions: NDArray[Any], tol: float) -> None:
    unfinished = [solution for solution in solutions.flat if not solution.converged]
    if unfinished:
        worst = max(max(each.residual, each.model.gap / each.objective) for each in unfinished)
        warnings.warn(
            f"double_hinge_path stopped {len(unfinished)} of {solutions.size} fits with a residual or relative gap up "
            f"to {worst:.3g} > tol={tol:g}; see `converged`. Raise max_iter or tol, lower Cs, or standardise features.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _start(beta: Floats, a: int, position: int, upwards: Indices, values: Floats) -> Floats | None:
    """Where to begin: the next smaller C, scaled; for the smallest, the previous price list."""
    if position > 0:
        smaller, c = upwards[position - 1], upwards[position]
        scaled: Floats = beta[a, smaller] * (values[c] / values[smaller])
        return scaled
    return beta[a - 1, upwards[0]] if a > 0 else None


def check_values(given: Any, name: str = "Cs") -> Floats:
    """The values of a path's parameter as an array; refuse what are no numbers greater than 0."""
    values = list(given) if isinstance(given, Sequence | np.ndarray) and np.ndim(given) == 1 else []
    if not values or not all(is_number(value) and np.isfinite(value) and value > 0 for value in values):
        raise ValueError(f"{name} must be a list of finite numbers greater than 0; got {given!r}.")
    return np.array(values, dtype=np.float64)
