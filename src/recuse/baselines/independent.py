"""IndependentOneClassSVC: a one-class machine for each class, each fitted on its own; what CONSUM is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats, Indices
from ..base import Evaluation, RejectOptionMixin, unchanged_on_failure
from ..costs import Costs
from ..labels import to_python
from ..parameters import check_choice, check_positive, check_share, check_weights
from ..svm.coupled.regions import REJECTIONS, closest, evaluate_regions, region_reasons
from ..svm.inputs import (
    INPUT_FORM,
    check_both_classes_weigh,
    check_kernel_matrix,
    check_kernel_parameters,
    settle_kernel,
    some_cases,
)
from ..svm.kernels import dense
from ..validation import validate_data

_SINGLE = 1e-6  # relative error of scores whose kernel values were held in single precision, as LIBSVM does


class IndependentOneClassSVC(RejectOptionMixin, BaseEstimator):
    """Two independent one-class support vector machines, scikit-learn's: 2OSVM.

    A case inside the region of one class has that class, inside both it is ambiguous, inside neither it is a novelty.
    The same decisions as `CoupledOneClassSVC` with ``C=0``: scores are divided by the sum of the coefficients,
    as there.

    Parameters
    ----------
    costs : Costs or float, default=0.25
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Only `score` uses them.
    nu_positive, nu_negative : float in (0, 1], default=0.05
        Largest share of the training cases of the positive and of the negative class outside their region, but for
        support vectors, which lie on its edge up to `tol`.
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
    machines_ : list of two OneClassSVM
        For ``classes_[0]`` and ``classes_[1]``.
    rho_positive_, rho_negative_ : float
        Thresholds of the two regions.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors of both machines among the training cases.
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

    @unchanged_on_failure
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
        self._check_parameters()
        X, y = validate_data(self, X, y, **INPUT_FORM)
        codes = self._fit_labels(y)
        self._require_two_classes()
        weights = check_weights(sample_weight, len(codes))
        check_both_classes_weigh(codes, weights)
        if self.kernel == "precomputed":
            check_kernel_matrix(X)
        self._fit_costs()
        self._fit_machines(X, codes, weights)
        return self

    def _check_parameters(self) -> None:
        check_share("nu_positive", self.nu_positive, or_one=True)
        check_share("nu_negative", self.nu_negative, or_one=True)
        check_positive(self, "tol", "cache_size")
        check_choice("rejection", self.rejection, REJECTIONS)
        check_kernel_parameters(self)

    def _fit_machines(self, X: Any, codes: Indices, weights: Floats) -> None:
        used = np.flatnonzero(weights)
        self._kernel = settle_kernel(self, some_cases(X, used, self.kernel), weights[used])
        positive_first = self.pos_label_ == self.classes_[0]
        nu = (self.nu_positive, self.nu_negative) if positive_first else (self.nu_negative, self.nu_positive)
        self._cases = [used[codes[used] == code] for code in range(2)]
        self.machines_ = [
            OneClassSVM(
                kernel=self.kernel,
                gamma=self._kernel.gamma,
                degree=self.degree,
                coef0=self.coef0,
                nu=share,
                tol=self.tol,
                cache_size=self.cache_size,
            ).fit(some_cases(X, cases, self.kernel), sample_weight=weights[cases])
            for share, cases in zip(nu, self._cases, strict=True)
        ]
        # The coefficients of the paper's machines sum to 1, scikit-learn's to nu times the number of cases.
        self._totals = np.array([float(machine.dual_coef_.sum()) for machine in self.machines_])
        self._rho = np.array([float(machine.offset_[0]) for machine in self.machines_]) / self._totals
        self._error = _SINGLE * np.abs(self._rho)
        own = 0 if positive_first else 1
        self.rho_positive_, self.rho_negative_ = float(self._rho[own]), float(self._rho[1 - own])
        self._store_support(X, codes)
        self.n_iter_ = int(sum(machine.n_iter_ for machine in self.machines_))

    def _store_support(self, X: Any, codes: Indices) -> None:
        """Support vectors of both machines, for the reasons."""
        pairs = zip(self.machines_, self._cases, strict=True)
        self.support_ = np.concatenate([cases[machine.support_] for machine, cases in pairs])
        self._support_codes = codes[self.support_]
        if self.kernel == "precomputed":
            self._support_diagonal = self._kernel.diagonal(X)[self.support_]
        else:
            self._support_vectors = X[self.support_]

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self, "machines_")
        check_choice("rejection", self.rejection, REJECTIONS)
        X = validate_data(self, X, reset=False, **INPUT_FORM)
        pairs = zip(self.machines_, self._cases, strict=True)
        scores = [machine.score_samples(self._columns(X, cases)) for machine, cases in pairs]
        F = np.column_stack(scores) / self._totals
        return evaluate_regions(F, self._rho, self.rejection, X, error=self._error)

    def _columns(self, X: Any, cases: Indices) -> Any:
        """What one machine is given: of a kernel matrix, the columns of its own cases."""
        return X[:, cases] if self._kernel.name == "precomputed" else X

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        _, X = evaluation.detail
        names = [to_python(label) for label in self.classes_]
        labels = [names[code] for code in self._support_codes]

        def nearest(rows: Indices) -> list[str]:
            return closest(self._closeness(X[rows]), self.support_, labels)

        return region_reasons(evaluation, names, nearest)

    def _closeness(self, X: Any) -> Floats:
        """How close cases are to the support vectors: the closer, the greater."""
        if self._kernel.name == "precomputed":
            return 2.0 * dense(X[:, self.support_]) - self._support_diagonal
        return self._kernel.closeness(X, self._support_vectors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
