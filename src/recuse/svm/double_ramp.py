"""DoubleRampSVC: a reject-option classifier of few support vectors, by successive convex programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..base import SettledCosts, stopped_early, warn_not_converged
from ..costs import Costs
from ..labels import to_python
from ..parameters import check_choice, check_count, check_positive, check_share
from ..solution import Solution
from ..warning import warn_user
from .base import (
    KernelCases,
    KernelMachineMixin,
    Machine,
    among_machines,
    check_kernel_parameters,
    store_input,
    warn_of_sampled_kernel,
)
from .losses import ActiveHinges, RampLoss, double_ramp
from .threads import with_one_thread

if TYPE_CHECKING:
    from .dc.descent import MakeProgram


class DoubleRampSVC(KernelMachineMixin, BaseEstimator):
    """Sparse kernel machine whose score and reject band are learned together, with the double ramp loss.

    The score f, an expansion over the training cases with an intercept, and the half-width rho of the band minimise
    eq. (5) of the paper,

        lam c_min penalty(f) + sum_i w_i L(y_i f(x_i), rho) / sum_i w_i,      rho >= mu (1 + mu) / 2.

    The factor c_min, the price of the cheaper error, is 1 in the paper; with it the same lam gives the same machine in
    any currency. The penalty is the sum of the coefficients, each of the sign of its case's label ("l1", SDR-SVM), or
    half the squared norm of the expansion ("l2", DR-SVM). The loss L, bounded, falls in two ramps: from c (1 + mu) for
    an error of price c to r (1 + mu) for a rejection of price r to 0. Yes where ``f > rho``, no where ``f < -rho``,
    reject in between.

    Bounded means not convex: the fit goes down through convex programs to a critical point, with a proof that it is
    one (`residual_`), but another start may end lower (`n_init`).

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Prices that differ by class, an extension of the paper,
        give each class ramps of its own.
    lam : float, default=1e-3
        Weight of the penalty against the mean loss, with the cheaper error as the unit of all prices. For "l1" and an
        rbf kernel no case is left from ``max_price / mu`` on. For "l2" it stands for ``C = 1 / (lam n)``.
    mu : float, default=1.0
        In (0, 1]: the ramps are ``mu + mu^2`` wide.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `sklearn.svm.SVC`; a callable is given two matrices and returns the matrix of kernel values.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, poly and sigmoid: ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
    degree : float, default=3
        Degree of poly.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    penalty : {"l1", "l2"}, default="l1"
        "l1" for few support vectors, by linear programs; "l2" by quadratic ones.
    tol : float, default=1e-6
        Largest criticality: how much a convex majoriser that touches the objective could still be lowered, as a share
        of the largest error price.
    max_iter : int, default=200
        Most convex programs for each start; where they do not reach `tol`, one or two more measure the residual.
    n_init : int, default=1
        Number of starts: the convex one, and random ones. The best result is kept.
    cache_size : float, default=200
        Memory for the kernel matrix, in megabytes; of a larger one values are computed again when they are needed.
    class_weight : dict or "balanced", optional
        Factor for the weights of each class. The prices say what errors cost; use this for a sample whose class shares
        differ from those the model will meet.
    random_state : int or RandomState, optional
        Draws the random starts.
    pos_label : label, optional
        The positive class of the prices; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.

    Attributes
    ----------
    rho_ : float
        Half-width of the reject band.
    thresholds_ : tuple of float
        ``(-rho_, rho_)``: the scores between which a case is rejected.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the training cases; prediction uses no others.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class; a class has an entry where there are more.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_support,)
        Their coefficients, ``y_i alpha_i`` for "l1": f is ``sum_j dual_coef_[j] k(x, support_vectors_[j]) +
        intercept_``.
    coef_ : ndarray of shape (n_features,)
        The weights of the features; linear kernel only.
    intercept_ : float
        The intercept of f.
    objective_ : float
        The objective at the solution.
    residual_ : float
        Criticality, what `tol` is compared with: `dual_gap_` over the largest error price.
    dual_gap_ : float
        The objective minus proven lower bounds of the two convex majorisers that touch it there (two, since a margin on
        a kink may be counted on either side): the duality gap of these programs at the solution.
    history_ : ndarray
        The objective after each program that lowered it.
    n_iter_ : int
        Convex programs solved, over all starts.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Notes
    -----
    The linear programs are solved by their duals with the dual simplex of HiGHS. From one to the next only bounds
    change, so that each goes on from the last basis; constraints are generated when they are violated, since only a
    few ever matter.

    The start is the convex program without the concave parts. Starting at f = 0 would end there: rejecting every case
    is a critical point. Should one answer for all cases be better than what was found, the descent begins there again.
    A machine that ends with the same answer for every case, or rejects them all, gives a warning.

    **Three or more classes.** Each class has a machine of its own, against the rest, on kernel rows that are computed
    once for all of them where the matrix fits into `cache_size`. The best answer is that of the machine with the
    highest score; it is given where the score is above `rho_` of this machine, and else the case is ambiguous. Prices
    by class enter as weights of the cases of each class, as in `DoubleHingeSVC`. `ThresholdRejectClassifier` around it
    calibrates the scores and takes the answer of least expected cost, which is often cheaper. Attributes have an entry
    or a row for each class: `dual_coef_` has shape (n_classes, n_support), over the support vectors of all machines.
    `objective_` and `dual_gap_` are sums over the machines and `residual_` is the largest; `objectives_` and
    `residuals_` are those of each, `machine_costs_` their prices in units of the cheapest error.

    "l1" takes any kernel function; "l2", and what it proves, needs a positive semidefinite one, which sigmoid mostly is
    not, and refuses others as `DoubleHingeSVC` does. A precomputed matrix must be one in either case.

    References
    ----------
    K. Shah, N. Manwani, "Sparse reject option classifier using successive linear programming", AAAI 2019.
    N. Manwani, K. Desai, S. Sasidharan, R. Sundararajan, "Double ramp loss based reject option classifier", PAKDD 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import DoubleRampSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = DoubleRampSVC(costs=0.2).fit(X[:400], y[:400])
    >>> len(model.support_) < 50, model.residual_ <= 1e-6
    (True, True)
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    _several_classes = True
    _remedy = "Lower lam, raise n_init, standardise the features, or try another kernel or gamma."

    def __init__(
        self,
        costs: Costs | float = 0.2,
        *,
        lam: float = 1e-3,
        mu: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        penalty: str = "l1",
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 1,
        cache_size: float = 200,
        class_weight: Any = None,
        random_state: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
    ) -> None:
        self.costs = costs
        self.lam = lam
        self.mu = mu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.random_state = random_state
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject

    @with_one_thread
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DoubleRampSVC:
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
        from .dc.descent import best_of

        training, prices = self._read(X, y, sample_weight)
        machines = self._machines(training, prices)
        losses = [self._loss(machine) for machine in machines]
        make = self._maker(training, several=len(machines) > 1)
        programs = [make(loss) for loss in losses]
        solutions = [
            best_of(program, self._starts(loss), tol=self.tol, max_iter=self.max_iter)
            for program, loss in zip(programs, losses, strict=True)
        ]
        store_input(self, X, training, prices)
        self._store(machines, solutions, training, prices, balanced=programs[0].balanced)
        self._warn(solutions)
        if self.penalty == "l2":  # "l1" proves as much with any kernel
            warn_of_sampled_kernel(self, training)
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _check_parameters(self) -> None:
        from .dc.penalties import PENALTIES

        check_positive(self, "lam", "tol", "cache_size")
        check_share("mu", self.mu, or_one=True)
        for name in ("max_iter", "n_init"):
            check_count(name, getattr(self, name))
        check_choice("penalty", self.penalty, PENALTIES)
        check_kernel_parameters(self)

    def _loss(self, machine: Machine) -> RampLoss:
        """The loss of a machine; its cheaper error is the unit."""
        cases = machine.cases
        return double_ramp(machine.costs.normalised(), cases.signs, cases.weights, float(self.mu))

    def _maker(self, training: KernelCases, *, several: bool = False) -> MakeProgram:
        """The convex programs of a step by their losses, for the penalty; `several` of them if so."""
        # Here, not above: prediction needs neither the compiler nor the solver of linear programs.
        from .dc.penalties import PENALTIES

        return PENALTIES[self.penalty].maker(
            training.cases,
            training.kernel,
            lam=float(self.lam),
            tol=self.tol,
            cache_bytes=int(self.cache_size * 2**20),
            several=several,
        )

    def _starts(self, loss: RampLoss) -> Iterator[ActiveHinges]:
        """The convex start, then random ones."""
        yield loss.no_active_hinges()
        rng = check_random_state(self.random_state)
        for _ in range(self.n_init - 1):
            yield loss.random_active_hinges(rng)

    def _store(
        self,
        machines: list[Machine],
        solutions: list[Solution],
        training: KernelCases,
        prices: SettledCosts,
        *,
        balanced: bool,
    ) -> None:
        """Publish the bands, the certificates and the number of support vectors of each class."""
        units = [machine.costs.cheaper_error * prices.unit for machine in machines]
        in_money = [replace(s, objective=s.objective * unit) for s, unit in zip(solutions, units, strict=True)]
        rho = [float(solution.model.rho) for solution in solutions]
        self._store_machines(machines, [(-each, each) for each in rho], in_money, training, balanced=balanced)
        used = np.any([solution.model.beta != 0 for solution in solutions], axis=0)
        self.n_support_ = np.bincount(training.codes[used], minlength=len(training.labels.classes))
        histories = [np.array(s.history) * unit for s, unit in zip(solutions, units, strict=True)]
        alone = len(machines) == 1
        self.rho_: Any = rho[0] if alone else np.array(rho)
        self.history_: Any = histories[0] if alone else histories
        if alone:
            self.dual_gap_ = solutions[0].residual * self.costs_.largest_error
        else:
            largest = [machine.costs.largest_error * prices.unit for machine in machines]
            self.dual_gap_ = float(sum(s.residual * price for s, price in zip(solutions, largest, strict=True)))

    def _warn(self, solutions: list[Solution]) -> None:
        unfinished = [solution for solution in solutions if not solution.converged]
        if unfinished:
            stopped = stopped_early(type(self).__name__, unfinished[0], self.tol, "programs")
            stopped += among_machines(solutions)
            warn_not_converged(stopped, "Raise max_iter or tol, or standardise the features.")
        constant = [k for k, solution in enumerate(solutions) if solution.model.one_class()]
        if constant:
            of = f" in the machine of {to_python(self.classes_[constant[0]])!r}" if len(solutions) > 1 else ""
            warn_user(
                f"{type(self).__name__} found nothing better than the same answer for every case at lam={self.lam:g}"
                f"{of}. {self._remedy}"
            )
