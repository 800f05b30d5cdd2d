"""What the kernel machines that minimise a loss share: their input, class weights, the expansion, reasons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from ..base import Evaluation, RejectOptionMixin
from ..labels import to_python
from ..parameters import check_weights, is_number
from ..validation import validate_data
from .inputs import INPUT_FORM, check_both_classes_weigh, check_kernel_matrix, settle_kernel, some_cases
from .kernels import Kernel, centred


class KernelMachineMixin(RejectOptionMixin):
    """Input and output of a classifier whose score is a kernel expansion with an intercept.

    A subclass has the parameters `kernel`, `gamma`, `degree`, `coef0` and `class_weight`, defines `_check_parameters`,
    and has once fitted `thresholds_`, the scores between which a case is rejected.
    """

    kernel: str | Callable[..., Any]
    class_weight: Any
    thresholds_: tuple[float, float]
    support_: Indices
    support_vectors_: Any
    dual_coef_: Floats
    coef_: Floats
    intercept_: float
    _kernel: Kernel

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""

    def _check_input(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Floats, Floats]:
        """Return the cases, their labels as -1 and +1, and their weights."""
        self._check_parameters()
        X, y = validate_data(self, X, y, **INPUT_FORM)
        codes = self._fit_labels(y)
        self._require_two_classes()
        weights = self._weights(sample_weight, codes)
        check_both_classes_weigh(codes, weights)
        if self.kernel == "precomputed":
            check_kernel_matrix(X)
        return X, np.where(codes == 1, 1.0, -1.0), weights

    def _weights(self, sample_weight: Any, codes: Indices) -> Floats:
        """Weight of each case: its own times that of its class."""
        weights = check_weights(sample_weight, len(codes))
        if self.class_weight is None:
            return weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weights=weights, minlength=2)
            return weights * (totals.sum() / (2 * np.maximum(totals, 1e-300)))[codes]
        if not isinstance(self.class_weight, dict):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None; got {self.class_weight!r}.")
        names = [to_python(label) for label in self.classes_]
        unknown = [key for key in self.class_weight if to_python(key) not in names]
        if unknown:
            raise ValueError(f"class_weight has keys that are no classes: {unknown!r}; the classes are {names!r}.")
        given = [self.class_weight.get(name, 1.0) for name in names]
        if not all(is_number(factor) and np.isfinite(factor) and factor > 0 for factor in given):
            raise ValueError(f"class_weight must hold finite numbers greater than 0; got {self.class_weight!r}.")
        factors = np.array(given, dtype=np.float64)
        return weights * factors[codes]

    def _settle(self, X: Any, weights: Floats) -> tuple[Indices, Any]:
        """Positions of the cases of positive weight, and these cases; settles the kernel on them."""
        used = np.flatnonzero(weights)
        cases = X if len(used) == X.shape[0] else some_cases(X, used, self.kernel)
        self._kernel = settle_kernel(self, cases, weights[used])
        return used, cases

    def _store_support(self, beta: Floats, X: Any, used: Indices, *, balanced: bool = False) -> None:
        """Publish the cases with coefficients; `used` are the positions of the rows of X among the training cases.

        `balanced` coefficients sum to 0.
        """
        support = np.flatnonzero(beta)
        self.support_ = used[support]
        self.dual_coef_ = beta[support]
        self.support_vectors_ = X[support] if self.kernel != "precomputed" else np.empty((0, 0))
        if self.kernel == "linear":
            # Where the coefficients sum to 0 a shift changes nothing but the digits lost far from the origin.
            cases = centred(self.support_vectors_) if balanced and len(support) else self.support_vectors_
            self.coef_ = np.asarray(cases.T @ self.dual_coef_).ravel()
        elif hasattr(self, "coef_"):
            del self.coef_  # of an earlier fit

    def _score(self, X: Any) -> Floats:
        """The score f of each case."""
        name = self._kernel.name  # as fitted
        if name == "linear":
            expansion = np.asarray(X @ self.coef_).ravel()
        elif name == "precomputed":
            expansion = np.asarray(X[:, self.support_] @ self.dual_coef_).ravel()
        else:
            expansion = self._kernel.expansion(X, self.support_vectors_, self.dual_coef_)
        return expansion + self.intercept_

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        low, high = self.thresholds_
        names = [to_python(label) for label in self.classes_]
        return [_reason(float(f), low, high, names) for f in evaluation.detail]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _reason(f: float, low: float, high: float, names: list[Any]) -> str:
    """One sentence: the score, both thresholds, and how far the nearer one is."""
    thresholds = f"thresholds {low:.4g} and {high:.4g}"
    if f > high:
        return f"score {f:.4g} is {f - high:.4g} above the upper of the {thresholds}: {names[1]!r}"
    if f < low:
        return f"score {f:.4g} is {low - f:.4g} below the lower of the {thresholds}: {names[0]!r}"
    nearer = names[1] if high - f < f - low else names[0]
    return f"score {f:.4g} lies between the {thresholds}, {min(high - f, f - low):.4g} from {nearer!r}"
