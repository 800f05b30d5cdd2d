"""Fits for many values of C or lam and several price lists at once, each started from its neighbour.

Both paths check their input as the estimator does, set up the kernel rows once, and solve one row of fits per price
list, upwards in C or lam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ..arrays import Flags, Floats, Indices
from ..base import warn_not_converged
from ..costs import Costs, as_costs
from ..labels import to_python
from ..parameters import is_number
from .base import KernelCases, read_training_set, warn_of_sampled_kernel
from .double_hinge import DoubleHingeSVC
from .double_ramp import DoubleRampSVC
from .kernels import Kernel
from .losses import double_hinge, double_ramp
from .qp.problem import from_hinges
from .threads import limited_threads


@dataclass(frozen=True, eq=False)
class _Path:
    """What both paths hold: facts of shape (n_costs, n_values), coefficients of (n_costs, n_values, n_samples)."""

    costs: tuple[Costs, ...]
    dual_coef: Floats
    intercept: Floats
    objective: Floats
    residual: Floats
    n_iter: Indices
    converged: Flags
    kernel: Kernel
    training_cases: Any

    def scores(self, X: Any) -> Floats:
        """Score f of each case under every solution, of shape (n_costs, n_values, n_cases).

        Parameters
        ----------
        X : array-like of shape (n_cases, n_features), or (n_cases, n_samples) if precomputed
        """
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        width = self.training_cases.shape[1]
        if X.shape[1] != width:
            raise ValueError(f"X must have {width} columns, as in training; got {X.shape[1]}.")
        flat = self.dual_coef.reshape(-1, self.dual_coef.shape[-1])
        used = np.flatnonzero(flat.any(axis=0))
        coef = np.ascontiguousarray(flat[:, used].T)
        # All expansions in one sweep over the kernel values.
        if self.kernel.form.given_as_matrix:
            f = np.asarray(X[:, used] @ coef)
        else:
            f = self.kernel.expansion(X, self.training_cases[used], coef)
        scores: Floats = f.T.reshape((*self.dual_coef.shape[:2], -1)) + self.intercept[:, :, None]
        return scores


@dataclass(frozen=True, eq=False)
class DoubleHingePath(_Path):
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
    kernel, training_cases
        What `scores` computes scores of new cases from.
    """

    Cs: Floats
    dual_gap: Floats


@dataclass(frozen=True, eq=False)
class DoubleRampPath(_Path):
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
    kernel, training_cases
        What `scores` computes scores of new cases from.
    """

    lams: Floats
    rho: Floats
    n_support: Indices


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
    machine = DoubleHingeSVC(kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, solver=solver)
    machine.set_params(tol=tol, max_iter=max_iter, cache_size=cache_size, pos_label=pos_label)
    training = read_training_set(machine, X, y, sample_weight, class_weight=class_weight)
    values, lists = _positive_values("Cs", Cs), _price_lists(costs)
    with limited_threads(X, kernel):
        solutions = _hinge_solutions(machine, training, values, _oriented(machine, lists, training))
    gap = _each(solutions, lambda s: s.model.gap)
    warn_of_sampled_kernel(machine, training)
    return DoubleHingePath(**_shared_facts(solutions, lists, training), Cs=values, dual_gap=gap)


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
    machine = DoubleRampSVC(mu=mu, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, penalty=penalty)
    machine.set_params(tol=tol, max_iter=max_iter, cache_size=cache_size, pos_label=pos_label)
    training = read_training_set(machine, X, y, sample_weight, class_weight=class_weight)
    values, lists = _positive_values("lams", lams), _price_lists(costs)
    with limited_threads(X, kernel):
        solutions = _ramp_solutions(machine, training, values, _oriented(machine, lists, training))
    facts, rho = _shared_facts(solutions, lists, training), _each(solutions, lambda s: s.model.rho)
    facts["objective"] *= np.array([[prices.cheaper_error] for prices in lists])  # solved in units of it
    if penalty == "l2":
        warn_of_sampled_kernel(machine, training)
    return DoubleRampPath(**facts, lams=values, rho=rho, n_support=np.count_nonzero(facts["dual_coef"], axis=2))


def _hinge_solutions(machine: DoubleHingeSVC, training: KernelCases, Cs: Floats, prices: list[Costs]) -> NDArray[Any]:
    """The solution for each price list and C, with a warning where they did not converge."""
    solve = machine._solver(training)
    solutions = np.empty((len(prices), len(Cs)), dtype=object)
    upwards = np.argsort(Cs, kind="stable")
    for a, costs in enumerate(prices):
        unit = from_hinges(double_hinge(costs), training.signs, training.weights)
        # The smallest C starts from the previous price list, every other one from the next smaller C, scaled.
        start = solutions[a - 1, upwards[0]].model.beta if a > 0 else None
        for position, c in enumerate(upwards):
            solutions[a, c] = solve(unit.scaled(Cs[c]), start=start)
            if position + 1 < len(upwards):
                start = solutions[a, c].model.beta * (Cs[upwards[position + 1]] / Cs[c])
    _warn_of_hinges(solutions, machine.tol)
    return solutions


def _ramp_solutions(machine: DoubleRampSVC, training: KernelCases, lams: Floats, prices: list[Costs]) -> NDArray[Any]:
    """The solution for each price list and lam; one program serves them all. Warns where they did not converge."""
    from .dc.descent import best_of

    losses = [double_ramp(costs, training.signs, training.weights, float(machine.mu)) for costs in prices]
    program = machine._maker(training)(losses[0])
    solutions = np.empty((len(losses), len(lams)), dtype=object)
    upwards = np.argsort(lams, kind="stable")
    for a, loss in enumerate(losses):
        before = solutions[a - 1, upwards[0]] if a > 0 else None
        starts: list[Any] = [loss.no_active_hinges()]
        for position in upwards:
            program.reset(loss, lams[position])
            if before is not None:
                starts.append(program.moved(before.model))
            solutions[a, position] = best_of(program, starts, tol=machine.tol, max_iter=machine.max_iter)
            before, starts = solutions[a, position], []
    _warn_of_ramps(solutions, machine.tol)
    return solutions


def _oriented(machine: Any, lists: tuple[Costs, ...], training: KernelCases) -> list[Costs]:
    """The price lists, checked as those of an estimator, seen from the second class."""
    classes = training.labels.classes
    return [machine.set_params(costs=costs)._settle_costs(classes).oriented for costs in lists]


def _shared_facts(solutions: NDArray[Any], lists: tuple[Costs, ...], training: KernelCases) -> dict[str, Any]:
    """The fields that both kinds of path have."""
    coef = np.zeros((*solutions.shape, training.X.shape[0]))
    coef[:, :, training.used] = _each(solutions, lambda s: s.model.beta)
    return {
        "costs": lists,
        "dual_coef": coef,
        "intercept": _each(solutions, lambda s: s.model.intercept),
        "objective": _each(solutions, lambda s: s.objective),
        "residual": _each(solutions, lambda s: s.residual),
        "n_iter": _each(solutions, lambda s: s.n_iter, np.intp),
        "converged": _each(solutions, lambda s: s.converged, bool),
        "kernel": training.kernel,
        "training_cases": training.X,
    }


def _each(solutions: NDArray[Any], fact: Callable[[Any], Any], dtype: Any = np.float64) -> NDArray[Any]:
    """A fact about every solution."""
    return np.array([[fact(solution) for solution in row] for row in solutions], dtype=dtype)


def _warn_of_hinges(solutions: NDArray[Any], tol: float) -> None:
    unfinished = [solution for solution in solutions.flat if not solution.converged]
    if unfinished:
        worst = max(max(each.residual, each.model.gap / each.objective) for each in unfinished)
        stopped = f"double_hinge_path stopped {len(unfinished)} of {solutions.size} fits"
        reached = f"with a residual or relative gap up to {worst:.3g} > tol={tol:g}; see `converged`"
        warn_not_converged(f"{stopped} {reached}", "Raise max_iter or tol, lower Cs, or standardise features.")


def _warn_of_ramps(solutions: NDArray[Any], tol: float) -> None:
    unfinished = [solution for solution in solutions.flat if not solution.converged]
    if unfinished:
        worst = max(solution.residual for solution in unfinished)
        stopped = f"double_ramp_path stopped {len(unfinished)} of {solutions.size} fits"
        reached = f"with residuals up to {worst:.3g} > tol={tol:g}; see `converged`"
        warn_not_converged(f"{stopped} {reached}", "Raise max_iter or tol, or standardise the features.")


def _price_lists(costs: Any) -> tuple[Costs, ...]:
    """The price lists of a path, from one or several."""
    several = isinstance(costs, Sequence | np.ndarray) and not isinstance(costs, str) and np.ndim(costs) > 0
    lists = tuple(as_costs(to_python(c)) for c in (costs if several else [costs]))
    if not lists:
        raise ValueError("costs must hold at least one price list; got none.")
    return lists


def _positive_values(name: str, given: Any) -> Floats:
    """The values of a path's parameter as an array; anything but numbers greater than 0 is refused."""
    values = list(given) if isinstance(given, Sequence | np.ndarray) and np.ndim(given) == 1 else []
    if not values or not all(is_number(value) and np.isfinite(value) and value > 0 for value in values):
        raise ValueError(f"{name} must be a list of finite numbers greater than 0; got {given!r}.")
    return np.array(values, dtype=np.float64)
