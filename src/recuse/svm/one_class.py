"""CoupledOneClassSVC: one region for each class, learned together; rejected is what lies in both, or in neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..arrays import Flags, Floats, Indices
from ..base import SettledCosts, stopped_early, warn_not_converged
from ..costs import Costs
from ..parameters import check_max_iter, check_number, check_switch
from ..rounding import row_sums
from ..solution import Solution
from .base import (
    KernelCases,
    among_machines,
    forget,
    publish_machines,
    read_training_set,
    store_input,
    warn_of_sampled_kernel,
)
from .class_regions import ClassRegionsMixin
from .coupled.problem import CoupledQP, against_the_rest_prices, coupled_qp, priced_qp
from .coupled.regions import near_an_edge, near_an_edge_of_several
from .threads import with_one_thread


class CoupledOneClassSVC(ClassRegionsMixin, BaseEstimator):
    """One-class support vector machines, one for each class, coupled: CONSUM.

    With two classes each has a region, ``f+(x) = <w+, phi(x)> - rho+ >= 0`` and ``f-(x) = <w-, phi(x)> - rho- >= 0``. A
    case inside one of them has that class, inside both it is ambiguous, inside neither it is a novelty: eq. (12),
    except that the edge of a region, where many support vectors lie, counts as inside here. The machines minimise eq.
    (2) of the paper,

        1/2 |w+|^2 - rho+ + 1/(nu+ N+) sum_{y=+1} (rho+ - <w+, phi_i>)_+
      + 1/2 |w-|^2 - rho- + 1/(nu- N-) sum_{y=-1} (rho- - <w-, phi_i>)_+
      + C/N sum_i C_r (rho - m_i)_+ + C_e (-rho - m_i)_+ ,       m_i = y_i <w+ - w-, phi_i>.

    The first two lines are two one-class machines; the third makes them agree on which case belongs where, with a band
    ``|m| < rho`` whose width is learned and in which a case costs as much as a rejection.

    Parameters
    ----------
    costs : Costs or float, default=0.25
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. ``C_r`` is the reject price and ``C_e`` what an error
        costs more, as shares of the larger error price; where the prices differ by class, so do they. The default is
        the paper's: an error costs four times as much as a rejection.
    C : float, default=1.0
        Weight of the coupling. 0: two independent one-class machines. Beyond about 10 little changes any more.
    nu_positive, nu_negative : float in (0, 1], default=0.05
        Largest share of the training cases of the positive and of the negative class outside their region; with three
        or more classes of each class, and of the rest in its program.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `sklearn.svm.SVC`; a callable is given two matrices and returns the matrix of kernel values. One that is
        not positive semidefinite on the training cases is refused, as in `DoubleHingeSVC`. Regions around cases need a
        kernel that falls with the distance: rbf.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, poly and sigmoid: ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
    degree : float, default=3
        Degree of poly.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    rejection : {"both", "ambiguity", "none"}, default="both"
        The scenarios of the paper. "ambiguity": only cases inside both regions are rejected, and those inside neither
        have the class with the higher score ``<w, phi>``. "none": every case has. May be changed after `fit`.
    nonnegative_rho : bool, default=False
        Whether `rho_` must not be negative. Matters only at prices at which it may be, see there.
    tol : float, default=1e-4
        Largest gap between the primal and the dual objective, as a share of the dual one.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    cache_size : float, default=200
        Memory for kernel values, in megabytes, where there are more cases than one block of the solver holds.
    pos_label : label, optional
        The positive class of the prices and of `nu_positive`; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class whose region is nearer.

    Attributes
    ----------
    rho_positive_, rho_negative_ : float
        Thresholds of the two regions; the middle, where several are best.
    rho_ : float
        Half-width of the band. No decision uses it. It is not negative where each error costs at least twice the
        rejection of its class, or with `nonnegative_rho`; at symmetric prices others are refused, since rejecting
        never pays there.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the training cases.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (2, n_support)
        Their coefficients in the machines of ``classes_[0]`` and ``classes_[1]``.
    intercept_ : ndarray of shape (2,)
        Minus the thresholds of these two machines.
    objective_ : float
        The objective (2) at the solution; negative.
    dual_gap_ : float
        Primal minus dual objective: `objective_` is at most this far above its minimum.
    residual_ : float
        `dual_gap_` as a share of the dual objective; what `tol` is compared with.
    n_iter_ : int
        Steps done.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Notes
    -----
    `decision_function` is ``f+ - f-`` (towards ``classes_[1]``), whose sign is the class of an accepted case and of a
    forced answer; where `rejection` gives a class to cases outside both regions, or to all, it is the difference of
    their scores without thresholds, as in the paper. `score_samples` is positive exactly where one region, and one
    only, contains the case; with "ambiguity", where not both do.

    **Three or more classes.** Class k and the rest are coupled as the two classes of the paper are, in a program for
    each k, of which the region of class k is kept: with two classes both programs would be the same. In the terms of
    the coupling every case has its own prices, so that having a case of class y taken for k costs what the prices say;
    one of k that is taken for another class costs the average over their cases. A case inside several regions is
    ambiguous, inside none it is a novelty. The programs share the kernel matrix or, beyond what is held whole, its
    rows, as far as `cache_size` has room for them. `dual_coef_`, `intercept_` and `rho_` have a row or an entry for
    each class; there is no `rho_positive_` and `rho_negative_`. `objective_` and `dual_gap_` are sums over the
    programs, `residual_` is the largest; `objectives_` and `residuals_` are those of each. `decision_function` has a
    column for each class, how far inside its region a case is.

    The kernel matrix is held whole, in double precision, up to 2048 cases for a tolerance below 1e-6 and up to 500
    otherwise; beyond, its rows are computed when they are needed. `objective_`, `dual_gap_` and `residual_` are always
    those of scores recomputed in double precision.

    References
    ----------
    B. Hanczar, M. Sebag, "Combination of One-Class Support Vector Machines for Classification with Reject Option",
    2014.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import CoupledOneClassSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = CoupledOneClassSVC(gamma=0.005).fit(X[:400], y[:400])
    >>> model.dual_gap_ < 1e-4 * -model.objective_
    True
    >>> far = model.decide(X[400:401] + 20)
    >>> print(far.kind[0], "-", far.reason[0].split(":")[0])
    novelty - outside both class regions
    """

    def __init__(
        self,
        costs: Costs | float = 0.25,
        *,
        C: float = 1.0,
        nu_positive: float = 0.05,
        nu_negative: float = 0.05,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        rejection: str = "both",
        nonnegative_rho: bool = False,
        tol: float = 1e-4,
        max_iter: int = -1,
        cache_size: float = 200,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
    ) -> None:
        self.costs = costs
        self.C = C
        self.nu_positive = nu_positive
        self.nu_negative = nu_negative
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rejection = rejection
        self.nonnegative_rho = nonnegative_rho
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject

    @with_one_thread
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CoupledOneClassSVC:
        """Fit both machines.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training cases, or the kernel values between them.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case: 2 counts as two cases, 0 as none.

        Returns
        -------
        self
        """
        training = read_training_set(self, X, y, sample_weight, by_class=True, several=True)
        prices = self._settle_costs(training.labels.classes)
        if len(training.labels.classes) == 2:
            problem = self._problem(training, prices)
            solutions = [self._solve(problem, self._rows(training))]
            store_input(self, X, training, prices)
            self._store(solutions[0], problem, training)
        else:
            problems = self._problems(training, prices)
            solutions = self._solve_several(problems, training)
            store_input(self, X, training, prices)
            self._store_several(solutions, problems, training)
        self._warn_if_unfinished(solutions)
        warn_of_sampled_kernel(self, training)
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0, remedy="0 gives two independent one-class machines.")
        check_switch("nonnegative_rho", self.nonnegative_rho)
        check_max_iter(self.max_iter)
        super()._check_parameters()

    def _problem(self, training: KernelCases, prices: SettledCosts) -> CoupledQP:
        """The program, in which the class of the first case is the positive one.

        So it is the same program, and its solution the same to the last digit, whatever the classes are called: cases
        on the edge of a region are decided alike.
        """
        leads = _second_class_leads(training)
        negative, positive = self._nu(prices.pos_label, training.labels.classes)
        return coupled_qp(
            training.signs if leads else -training.signs,
            training.weights,
            nu=(negative, positive) if leads else (positive, negative),
            C=float(self.C),
            costs=prices.oriented if leads else prices.oriented.swapped(),
        )

    def _problems(self, training: KernelCases, prices: SettledCosts) -> list[tuple[CoupledQP, Indices]]:
        """For three or more classes the program of each against the rest, and the order in which its cases come."""
        matrix = prices.oriented.matrix(len(training.labels.classes))
        nu = float(self.nu_negative), float(self.nu_positive)
        problems = []
        for k in range(len(matrix) - 1):
            order = np.argsort(training.codes != k, kind="stable")
            codes, weights = training.codes[order], training.weights[order]
            priced = against_the_rest_prices(matrix, k, codes, weights)
            y = np.where(codes == k, 1.0, -1.0)
            problems.append((priced_qp(y, weights, nu=nu, C=float(self.C), prices=priced), order))
        return problems

    def _rows(self, training: KernelCases, *, several: bool = False) -> Any:
        # Here, not above: the solvers load the compiler, which prediction does not need.
        from .coupled.solver import coupled_source

        cache_bytes = int(self.cache_size * 2**20)
        return coupled_source(training.cases, training.kernel, cache_bytes=cache_bytes, tol=self.tol, several=several)

    def _solve_several(self, problems: list[tuple[CoupledQP, Indices]], training: KernelCases) -> list[Solution]:
        """The solution of each program, all on the same kernel rows."""
        from .rows import reordered

        rows = self._rows(training, several=True)
        return [self._solve(problem, reordered(rows, order)) for problem, order in problems]

    def _solve(self, problem: CoupledQP, rows: Any) -> Solution:
        from .coupled.solver import solve_coupled

        nonnegative = bool(self.nonnegative_rho)
        return solve_coupled(problem, rows, tol=self.tol, max_iter=self.max_iter, nonnegative=nonnegative)

    def _store(self, solution: Solution, problem: CoupledQP, training: KernelCases) -> None:
        """Publish the support vectors, in the order of the training cases, and the certificate."""
        coef, facts = solution.model.point.coefficients(problem.y), solution.model.certificate
        rho = np.array([facts.rho_negative, facts.rho_positive])
        if not _second_class_leads(training):
            coef, rho = coef[::-1], rho[::-1]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(training.used[support])]
        self._store_regions(rho, support, training)
        self.dual_coef_ = coef[:, support]
        self.rho_ = facts.rho
        self.dual_gap_ = facts.gap
        forget(self, "objectives_", "residuals_")
        self._publish(solution)

    def _store_several(
        self, solutions: list[Solution], problems: list[tuple[CoupledQP, Indices]], training: KernelCases
    ) -> None:
        """The same for three or more classes: of each program the region of its class."""
        coef = np.zeros((len(problems), len(training.used)))
        for k, (solution, (problem, order)) in enumerate(zip(solutions, problems, strict=True)):
            coef[k, order] = solution.model.point.coefficients(problem.y)[1]
        facts = [solution.model.certificate for solution in solutions]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(training.used[support])]
        self._store_regions(np.array([each.rho_positive for each in facts]), support, training)
        self.dual_coef_ = coef[:, support]
        self.rho_ = np.array([each.rho for each in facts])
        self.dual_gap_ = float(sum(each.gap for each in facts))
        publish_machines(self, solutions)

    def _warn_if_unfinished(self, solutions: list[Solution]) -> None:
        unfinished = [solution for solution in solutions if not solution.converged]
        if unfinished:
            stopped = f"{stopped_early(type(self).__name__, unfinished[0], self.tol)} (dual_gap_={self.dual_gap_:.3g})"
            stopped += among_machines(solutions)
            warn_not_converged(stopped, "Raise max_iter or tol, lower C, or standardise the features.")

    def _scores(self, X: Any) -> Floats:
        if self._kernel.form.given_as_matrix:
            return row_sums(X[:, self.support_], self.dual_coef_.T)
        return self._kernel.expansion(X, self.support_vectors_, self.dual_coef_.T, self._near_an_edge)

    def _near_an_edge(self, scores: Floats, rounding: Floats) -> Flags:
        near = near_an_edge if len(self.intercept_) == 2 else near_an_edge_of_several
        return near(scores, -self.intercept_, rounding)


def _second_class_leads(training: KernelCases) -> bool:
    """Whether the cases, sorted by class, begin with those of the second class."""
    return bool(training.codes[0] == 1)
