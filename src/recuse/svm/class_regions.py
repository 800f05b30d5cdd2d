"""What one-class machines share that have a region per class: their input, support vectors, answers and reasons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats, Indices
from ..base import RejectOptionMixin
from ..decisions import Evaluation
from ..explaining import Contributions, TypicalCases
from ..labels import to_python
from ..parameters import check_choice, check_positive, check_share
from ..validation import validate_data
from .base import (
    INPUT_FORM,
    KernelCases,
    check_kernel_parameters,
    compared_with_typical,
    forget,
    kernel_tags,
    typical_cases,
)
from .coupled.regions import (
    REJECTIONS,
    closest,
    evaluate_regions,
    evaluate_several_regions,
    region_reasons,
    several_region_reasons,
)
from .kernels import Kernel, dense


class ClassRegionsMixin(RejectOptionMixin):
    """Input and output of one-class machines, each with the region of its class.

    A subclass has the parameters `kernel`, `gamma`, `degree`, `coef0`, `nu_positive`, `nu_negative`, `rejection`, `tol`
    and `cache_size`, and defines `_scores`.
    """

    kernel: str | Callable[..., Any]
    nu_positive: float
    nu_negative: float
    rejection: str
    support_: Indices
    support_vectors_: Any
    _kernel: Kernel
    _support_codes: Indices
    _names_columns = True  # its sentences name the nearest training cases
    _typical: TypicalCases | None = None  # of files that were saved before there were any
    _score_error: float | Floats = 0.0  # how far the scores of a region may be off
    _remedy = "Standardise the features, try another kernel or gamma, or lower nu_positive and nu_negative."

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """Scores ``<w, phi>`` in the machines, one column per class."""

    def _check_parameters(self) -> None:
        check_share("nu_positive", self.nu_positive, or_one=True)
        check_share("nu_negative", self.nu_negative, or_one=True)
        check_positive(self, "tol", "cache_size")
        check_choice("rejection", self.rejection, REJECTIONS)
        check_kernel_parameters(self)

    def _nu(self, pos_label: Any, classes: NDArray[Any]) -> tuple[float, ...]:
        """The shares of the classes that may lie outside their regions."""
        if len(classes) > 2:
            return (float(self.nu_positive),) * len(classes)
        nu = float(self.nu_negative), float(self.nu_positive)
        return nu if pos_label == classes[1] else nu[::-1]

    def _store_regions(self, rho: Floats, support: Indices, training: KernelCases) -> None:
        """Publish the thresholds of the regions, and the support vectors at positions `support` of the used cases."""
        self.intercept_ = -rho
        if len(rho) == 2:
            own = 1 if self.pos_label_ == self.classes_[1] else 0
            self.rho_positive_, self.rho_negative_ = float(rho[own]), float(rho[1 - own])
        else:
            forget(self, "rho_positive_", "rho_negative_")
        self.support_ = training.used[support]
        self._support_codes = training.codes[support]
        self._typical = typical_cases(self._kernel, training.cases, linear=False)
        if self._kernel.form.given_as_matrix:
            self.support_vectors_ = np.empty((0, 0))
            self._support_diagonal = self._kernel.diagonal(training.cases)[support]
        else:
            self.support_vectors_ = training.cases[support]

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self, "support_")
        check_choice("rejection", self.rejection, REJECTIONS)
        X = validate_data(self, X, reset=False, **INPUT_FORM)
        evaluate = evaluate_regions if len(self.intercept_) == 2 else evaluate_several_regions
        return evaluate(self._scores(X), -self.intercept_, self.rejection, X, error=self._score_error)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        _, X = evaluation.detail
        names = [to_python(label) for label in self.classes_]
        labels = [names[code] for code in self._support_codes]

        def nearest(rows: Indices) -> list[str]:
            return closest(self._closeness(X[rows]), self.support_, labels)

        if len(names) > 2:
            return several_region_reasons(evaluation, names, self.costs_.matrix(len(names)), nearest)
        return region_reasons(evaluation, names, nearest)

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to h, estimated; two classes only."""
        return compared_with_typical(self, X, self._typical) if len(self.classes_) == 2 else None

    def _closeness(self, X: Any) -> Floats:
        """How close cases are to the support vectors: the closer, the greater."""
        if self._kernel.form.given_as_matrix:
            return 2.0 * dense(X[:, self.support_]) - self._support_diagonal
        return self._kernel.closeness(X, self.support_vectors_)

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.classifier_tags.multi_class = True
        return tags
