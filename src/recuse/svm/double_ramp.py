"""DoubleRampSVC: a reject-option classifier of few support vectors, by successive convex programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..base import stopped_early, warn_not_converged
from ..costs import Costs
from ..parameters import check_choice, check_count, check_positive, check_share
from ..solution import Solution
from ..warning import warn_user
from .base import KernelCases, KernelMachineMixin, check_kernel_parameters, store_input, warn_of_sampled_kernel
from .losses import ActiveHinges, RampLoss, double_ramp
from .threads import with_one_thread

if TYPE_CHECKING:
    from .dc.descent import Program


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
        Number of support vectors of each class.
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
        loss = double_ramp(prices.oriented, training.signs, training.weights, float(self.mu))
        program = self._program(loss, training)
        solution = best_of(program, self._starts(loss), tol=self.tol, max_iter=self.max_iter)
        store_input(self, X, training, prices)
        self._store_expansion(solution.model.beta, solution.model.intercept, training, balanced=program.balanced)
        self._store(solution, training, prices.unit)
        self._warn(solution)
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

    def _program(self, loss: RampLoss, training: KernelCases) -> Program:
        """The convex program of a step, for the penalty."""
        # Here, not above: prediction needs neither the compiler nor the solver of linear programs.
        from .dc.penalties import PENALTIES

        lam, cache_bytes = float(self.lam), int(self.cache_size * 2**20)
        build = PENALTIES[self.penalty].for_cases
        return build(loss, training.cases, training.kernel, lam=lam, tol=self.tol, cache_bytes=cache_bytes)

    def _starts(self, loss: RampLoss) -> Iterator[ActiveHinges]:
        """The convex start, then random ones."""
        yield loss.no_active_hinges()
        rng = check_random_state(self.random_state)
        for _ in range(self.n_init - 1):
            yield loss.random_active_hinges(rng)

    def _store(self, solution: Solution, training: KernelCases, unit: float) -> None:
        """Publish the band, the certificate and the number of support vectors of each class."""
        self.n_support_ = np.bincount(training.codes[np.flatnonzero(solution.model.beta)], minlength=2)
        self.rho_ = float(solution.model.rho)
        self.thresholds_ = (-self.rho_, self.rho_)
        self.dual_gap_ = solution.residual * self.costs_.largest_error
        self.history_ = np.array(solution.history) * unit
        self._publish(replace(solution, objective=solution.objective * unit))

    def _warn(self, solution: Solution) -> None:
        if not solution.converged:
            stopped = stopped_early(type(self).__name__, solution, self.tol, "programs")
            warn_not_converged(stopped, "Raise max_iter or tol, or standardise the features.")
        if solution.model.one_class():
            warn_user(
                f"{type(self).__name__} found nothing better than the same answer for every case at lam={self.lam:g}. "
                f"{self._remedy}"
            )
