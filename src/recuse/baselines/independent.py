"""IndependentOneClassSVC: a one-class machine for each class, each fitted on its own; what CONSUM is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import OneClassSVM

from ..arrays import Floats, Indices
from ..costs import Costs
from ..svm.base import KernelCases, cases_at, read_training_set, store_input
from ..svm.class_regions import ClassRegionsMixin

_SINGLE = 1e-6  # relative error of scores whose kernel values were held in single precision, as LIBSVM does


class IndependentOneClassSVC(ClassRegionsMixin, BaseEstimator):
    """Independent one-class support vector machines, one for each class, scikit-learn's: 2OSVM.

    A case inside the region of one class has that class, inside several it is ambiguous, inside none it is a novelty.
    The same decisions as `CoupledOneClassSVC` with ``C=0``: scores are divided by the sum of the coefficients,
    as there.

    Parameters
    ----------
    costs : Costs or float, default=0.25
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Only `score` uses them.
    nu_positive, nu_negative : float in (0, 1], default=0.05
        Largest share of the training cases of the positive and of the negative class outside their region, not
        counting support vectors, which lie on its edge up to `tol`. With three or more classes `nu_positive` is that of
        each.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `sklearn.svm.OneClassSVM`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, poly and sigmoid, the same for both machines: "scale" is that of all training cases.
    degree : float, default=3
        Degree of poly.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    rejection : {"both", "ambiguity", "none"}, default="both"
        As in `CoupledOneClassSVC`.
    tol : float, default=1e-3
        Tolerance of `sklearn.svm.OneClassSVM`.
    cache_size : float, default=200
        Its cache, in megabytes.
    pos_label : label, optional
        The positive class of the prices and of `nu_positive`; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class whose region is nearer.

    Attributes
    ----------
    machines_ : list of OneClassSVM
        For each of ``classes_``.
    rho_positive_, rho_negative_ : float
        Thresholds of the two regions; two classes only.
    intercept_ : ndarray of shape (n_classes,)
        Minus the thresholds of the machines.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors of all machines among the training cases.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    classes_, reject_label_, costs_, pos_label_, n_iter_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    References
    ----------
    B. Hanczar, M. Sebag, "Combination of One-Class Support Vector Machines for Classification with Reject Option",
    2014, section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse.baselines import IndependentOneClassSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = IndependentOneClassSVC(gamma=0.005).fit(X[:400], y[:400])
    >>> set(model.decide(X[400:]).kind.tolist()) <= {"accept", "ambiguity", "novelty"}
    True
    """

    def __init__(
        self,
        costs: Costs | float = 0.25,
        *,
        nu_positive: float = 0.05,
        nu_negative: float = 0.05,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        rejection: str = "both",
        tol: float = 1e-3,
        cache_size: float = 200,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
    ) -> None:
        self.costs = costs
        self.nu_positive = nu_positive
        self.nu_negative = nu_negative
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rejection = rejection
        self.tol = tol
        self.cache_size = cache_size
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IndependentOneClassSVC:
        """Fit a machine on the cases of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training cases, or the kernel values between them.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.

        Returns
        -------
        self
        """
        training = read_training_set(self, X, y, sample_weight, several=True)
        prices = self._settle_costs(training.labels.classes)
        nu = self._nu(prices.pos_label, training.labels.classes)
        members = [np.flatnonzero(training.codes == code) for code in range(len(nu))]
        machines = [self._fit_machine(training, cases, share) for cases, share in zip(members, nu, strict=True)]
        store_input(self, X, training, prices)
        self._store(machines, members, training)
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _fit_machine(self, training: KernelCases, cases: Indices, nu: float) -> OneClassSVM:
        """scikit-learn's machine for the cases of one class."""
        machine = OneClassSVM(
            kernel=self.kernel,
            gamma=training.kernel.gamma,
            degree=self.degree,
            coef0=self.coef0,
            nu=nu,
            tol=self.tol,
            cache_size=self.cache_size,
        )
        return machine.fit(cases_at(training.cases, cases, self.kernel), sample_weight=training.weights[cases])

    def _store(self, machines: list[OneClassSVM], members: list[Indices], training: KernelCases) -> None:
        """Publish the machines, their thresholds, and the support vectors of all, for the reasons."""
        # The coefficients of the paper's machines sum to 1, scikit-learn's to nu times the number of cases.
        self._totals = np.array([float(machine.dual_coef_.sum()) for machine in machines])
        rho = np.array([float(machine.offset_[0]) for machine in machines]) / self._totals
        support = np.concatenate([cases[m.support_] for m, cases in zip(machines, members, strict=True)])
        self._store_regions(rho, support, training)
        self._score_error = _SINGLE * np.abs(rho)
        self._cases = [training.used[cases] for cases in members]
        self.machines_ = machines
        self.n_iter_ = int(sum(machine.n_iter_ for machine in machines))

    def _scores(self, X: Any) -> Floats:
        pairs = zip(self.machines_, self._cases, strict=True)
        return np.column_stack([m.score_samples(self._columns(X, cases)) for m, cases in pairs]) / self._totals

    def _columns(self, X: Any, cases: Indices) -> Any:
        """What one machine is given: of a kernel matrix, the columns of its own cases."""
        return X[:, cases] if self._kernel.form.given_as_matrix else X
