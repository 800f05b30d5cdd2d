"""DoubleHingeSVC: a support vector machine that learns when to reject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from ..arrays import Floats
from ..base import stopped_early, warn_not_converged
from ..costs import Costs
from ..one_versus_rest import PricedOdds
from ..parameters import check_choice, check_max_iter, check_positive
from ..solution import Solution
from .base import (
    KernelCases,
    KernelMachineMixin,
    Machine,
    among_machines,
    check_kernel_parameters,
    forget,
    store_input,
    warn_of_sampled_kernel,
)
from .losses import SCORE_RULES, break_even_score, double_hinge
from .qp.problem import KinkedQP, from_hinges
from .threads import with_one_thread


class DoubleHingeSVC(KernelMachineMixin, BaseEstimator):
    """Support vector machine with a reject option, trained with the double hinge loss.

    The score f, a kernel expansion with intercept, minimises eq. (10) of the paper,

        1/2 |f|^2 + C sum_i w_i loss(y_i, f(x_i)),

    where the loss, convex and made of two hinges, is tight for the probabilities at which the prices say that the
    answer changes, ``p_- < p_+``. Rule (9): yes where ``f > f_+ = logit(p_+)``, no where ``f < f_- = logit(p_-)``,
    reject in between. The score is a log-odds estimate at these two thresholds only: ``sigmoid(f)`` is not a
    probability anywhere else, and there is no `predict_proba`.

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. They shape the loss as well as the thresholds.
    C : float, default=1.0
        Weight of the losses against the norm. The paper's regularisation is ``lambda = 1 / (2 C)``. Worth a search: the
        lower the reject price, the further from 0 the thresholds, and a small C then keeps most scores between them.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `sklearn.svm.SVC`; a callable is given two matrices and returns the matrix of kernel values. One that is
        not positive semidefinite on the training cases, as sigmoid mostly is not, is refused: see Notes.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, poly and sigmoid: ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
    degree : float, default=3
        Degree of poly.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    solver : {"smo", "active_set"}, default="smo"
        Both reach the same optimum. "smo" goes by pairs, in blocks where there are many cases; a linear kernel on
        many cases of few features is solved in the features. "active_set" is the paper's Algorithm 1: it solves for the
        free cases exactly, and suits tight tolerances and moderate sizes.
    rule : {"plugin", "bartlett_wegkamp"}, default="plugin"
        Where the thresholds are: rule (9), or Bartlett and Wegkamp's, ``|f| <= H(d) / (2 d)`` on the same scores, which
        is defined for symmetric prices only.
    tol : float, default=1e-3
        The solver ends when the largest violation of the optimality conditions is at most `tol`, in units of the score
        (log-odds, whatever the unit of the prices), and the duality gap is at most `tol` times the objective.
    max_iter : int, default=-1
        Most steps of the solver; -1 for as many as help: `fit` always ends, and warns if `tol` is not met.
    cache_size : float, default=200
        Memory for kernel values beyond 2048 cases, in megabytes.
    class_weight : dict or "balanced", optional
        Factor for the weights of each class. The prices say what errors cost; use this for a sample whose class shares
        differ from those the model will meet.
    pos_label : label, optional
        The positive class of the prices; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.

    Attributes
    ----------
    thresholds_ : tuple of float, or ndarray of shape (n_classes, 2)
        The scores ``(f_-, f_+)`` between which a case is rejected.
    break_even_ : float
        The score at which a forced answer changes; `decision_function` is the score minus this. Two classes only.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the training cases.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_support,)
        Their coefficients beta: f is ``sum_j dual_coef_[j] k(x, support_vectors_[j]) + intercept_``.
    coef_ : ndarray of shape (n_features,)
        The weights of the features; linear kernel only.
    intercept_ : float
        The best intercept for the coefficients; the middle, where several are best.
    objective_ : float
        The objective (10) at the solution.
    dual_gap_ : float
        Primal minus dual objective: `objective_` is at most this far above its minimum.
    residual_ : float
        Largest violation of the optimality conditions; what `tol` is compared with, beside ``dual_gap_ / objective_``.
    n_iter_ : int
        Steps done.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Notes
    -----
    Up to 1000 cases "smo" is finished by a few active set steps, which leave no error but rounding: the result is then
    far more exact than `tol` asks. With no `max_iter`, an interior point method takes over where pairs have not ended
    after ``10000 + 200 n`` steps (large C, classes that cannot be told apart): on all variables, if the kernel matrix
    has a rank of at most 1000 and, beyond 2048 cases, its Cholesky factor fits into `cache_size`; else on those
    variables whose place is still in doubt, up to 4000 of them, with a matrix of their size. Then active set steps up
    to 1000 cases, ``800 n`` more pairs beyond.

    A linear kernel on 2000 cases or more, with at most 1000 features and four times as many cases, is solved in the
    space of the features by an interior point method, which needs no kernel values. From 20,000 cases on it works on
    the cases whose scores are near a kink of their loss, found by Newton steps on rounded kinks, and holds the others
    where they are; the certificate is that of all cases.

    Up to 2048 cases the whole kernel matrix is held in double precision, whatever `cache_size`: 32 megabytes at most,
    and four times that for the interior point method. Beyond, kernel rows are computed when they are needed, in single
    precision if ``tol >= 1e-5`` and the rounding error, measured on a sample, is small against the differences between
    cases, else in double. In any case the scores are recomputed in double precision before the end, and `objective_`,
    `dual_gap_` and `residual_` are theirs; where they show a violation above `tol` the solver goes on.

    **Three or more classes.** Each class has a machine of its own, against the rest, on kernel rows that are computed
    once for all of them, as far as `cache_size` has room for them. The best answer is the one that is expected to cost
    least, at equal prices that of the machine with the highest score; it is given where that score is above the upper
    threshold of its machine, and else the case is ambiguous. Prices by class enter as weights of the cases of each
    class, so that machines that are right about their upper thresholds answer where Chow's rule for all classes does;
    lower thresholds, which then decide nothing, go by the average price of a miss. `ThresholdRejectClassifier` around
    it calibrates the scores and takes the answer of least expected cost, which is often cheaper. Attributes have an
    entry or a row for each class: `dual_coef_` has shape (n_classes, n_support), over the support vectors of all
    machines. `objective_` and `dual_gap_` are sums over the machines and `residual_` is the largest; `objectives_` and
    `residuals_` are those of each, `machine_costs_` their prices in units of the cheapest error.

    The certificate holds for positive semidefinite kernels only. Where that is not known beforehand (a callable,
    "precomputed", "sigmoid", "poly" with a negative `coef0` or a fractional `degree`) the kernel matrix of the training
    cases is checked; beyond 2048 of them, that of 2048 evenly spread ones, and a warning says that what is proved rests
    on the others too.

    Linear algebra uses one thread during `fit`, but for other kernels than the linear one on 20,000 cases or more.

    Cases are centred for the rbf kernel, so that an offset costs no digits; of sparse ones the columns without zeros. A
    column with zeros and values beyond about 1e6 times the kernel's width costs digits.

    References
    ----------
    Y. Grandvalet, A. Rakotomamonjy, J. Keshet, S. Canu, "Support vector machines with a reject option", 2008.
    P. L. Bartlett, M. H. Wegkamp, "Classification with a reject option using a hinge loss", 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import DoubleHingeSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = DoubleHingeSVC(costs=0.2, C=100).fit(X[:400], y[:400])
    >>> model.decide(X[400:])
    Decisions(169 cases: 153 accepted, 16 ambiguity, 0 novelty)
    >>> model.dual_gap_ < 1e-3 * model.objective_
    True
    """

    _several_classes = True
    machine_costs_: tuple[Costs, ...]

    def __init__(
        self,
        costs: Costs | float = 0.2,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        solver: str = "smo",
        rule: str = "plugin",
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float = 200,
        class_weight: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
    ) -> None:
        self.costs = costs
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.rule = rule
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject

    @with_one_thread
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DoubleHingeSVC:
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
        machines = self._machines(training, prices)
        thresholds = [SCORE_RULES[self.rule](machine.costs) for machine in machines]
        solve = self._solver(training, several=len(machines) > 1)
        solutions = [solve(_program(machine, float(self.C)), polish=True) for machine in machines]
        store_input(self, X, training, prices)
        self._store_machines(machines, thresholds, solutions, training, balanced=True)
        if len(machines) == 1:
            self.break_even_ = break_even_score(prices.oriented)
        else:
            forget(self, "break_even_")
        self.dual_gap_ = float(sum(solution.model.gap for solution in solutions))
        self._warn_if_unfinished(solutions)
        warn_of_sampled_kernel(self, training)
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _check_parameters(self) -> None:
        from .qp.solvers import SOLVERS

        check_positive(self, "C", "tol", "cache_size")
        check_choice("solver", self.solver, SOLVERS)
        check_choice("rule", self.rule, SCORE_RULES)
        check_max_iter(self.max_iter)
        check_kernel_parameters(self)

    def _solver(self, training: KernelCases, *, several: bool = False) -> Callable[..., Solution]:
        """The solver for these cases, as a function of the program; `several` of them if so."""
        # Here, not above: the solvers load the compiler, which prediction does not need.
        from .qp.solvers import solver_for

        return solver_for(
            self.solver,
            training.cases,
            training.kernel,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
            several=several,
        )

    def _warn_if_unfinished(self, solutions: list[Solution]) -> None:
        unfinished = [solution for solution in solutions if not solution.converged]
        if not unfinished:
            return
        solution = unfinished[0]
        stopped = f"{stopped_early(type(self).__name__, solution, self.tol)} (dual_gap_={solution.model.gap:.3g})"
        if solution.residual <= self.tol:  # then it is the gap that is too large
            share = solution.model.gap / solution.objective
            stopped = (
                f"{type(self).__name__} stopped after {solution.n_iter} steps with dual_gap_={solution.model.gap:.3g}, "
                f"a share of {share:.3g} > tol={self.tol:g} of objective_"
            )
        stopped += among_machines(solutions)
        warn_not_converged(stopped, "Raise max_iter or tol, lower C, or standardise the features.")

    @property
    def _break_even(self) -> float:
        return self.break_even_

    def _compared(self, f: Floats) -> Floats:
        """By their expected prices, which the log-odds of the machines tell."""
        return PricedOdds.of(self.machine_costs_)(f)


def _program(machine: Machine, C: float) -> KinkedQP:
    """The program of a machine."""
    return from_hinges(double_hinge(machine.costs), machine.cases.signs, C * machine.cases.weights)
