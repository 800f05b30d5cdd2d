"""What the kernel machines share: their input and its checks, the kernel, support vectors, answers and reasons.

`KernelMachineMixin` is for machines with one score and two thresholds; those with one region per class have more in
`class_regions`. A `fit` reads a `KernelCases`, solves, and stores last: one that fails leaves the machine as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..arrays import Flags, Floats, Indices
from ..base import RejectOptionMixin, SettledCosts, require_two_classes
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds
from ..explaining import SCORE, Background, Contributions, TypicalCases, background_cases, explain_by_sampling
from ..labels import LabelSpace, to_python
from ..one_versus_rest import (
    AgainstTheRest,
    against_the_rest,
    evaluate_machines,
    machine_reasons,
    near_a_change,
    require_every_class,
)
from ..parameters import check_choice, check_number, check_weights, is_number
from ..rounding import EPS, row_sums
from ..searching import warn_once_in_search
from ..solution import Solution
from ..validation import check_training_data, store_columns, validate_data
from .kernels import (
    CHECKED,
    KERNELS,
    Kernel,
    centred,
    dense,
    form_of,
    require_semidefinite,
    require_symmetric,
    sampled_cases,
)

# How X is validated.
INPUT_FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "accept_large_sparse": False}
_LARGEST = 1e150  # of the values of the features: sums of some 10^8 squares of them are finite


# Input ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KernelCases:
    """Checked training cases of a kernel machine; nothing is stored in the machine yet.

    Attributes
    ----------
    X : ndarray or CSR matrix
        All cases, or the kernel values between them.
    labels : LabelSpace
        The classes and the reject label.
    used : ndarray of shape (n,)
        Positions of the cases with a positive weight.
    cases, codes, weights
        These cases, their class numbers and their weights.
    kernel : Kernel
        The kernel, with gamma as a number.
    """

    X: Any
    labels: LabelSpace
    used: Indices
    cases: Any
    codes: Indices
    weights: Floats
    kernel: Kernel

    @property
    def signs(self) -> Floats:
        """The two classes as -1 and +1."""
        return np.where(self.codes == 1, 1.0, -1.0)

    def sides(self, problem: AgainstTheRest) -> KernelCases:
        """The same cases with two classes: the side of one class, numbered 1, and the rest."""
        codes, weights = problem.positive[self.codes].astype(np.intp), self.weights * problem.factors[self.codes]
        return replace(self, codes=codes, weights=weights)


def read_training_set(
    machine: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    class_weight: Any = None,
    by_class: bool = False,
    several: bool = False,
) -> KernelCases:
    """Check the parameters and the training cases.

    With `by_class` the used cases are sorted by class, beginning with that of the first case: an order that does not
    depend on what the classes are called. With `several` there may be three or more classes.
    """
    machine._check_parameters()
    X, y = check_training_data(machine, X, y, **INPUT_FORM)
    labels, codes = machine._settle_labels(y)
    if not several:
        require_two_classes(labels.classes)
    weights = _case_weights(sample_weight, class_weight, codes, labels.classes)
    if len(np.unique(codes[weights > 0])) < 2:
        raise ValueError(
            "sample_weight leaves one class only: a classifier needs cases of two classes with weights above 0."
        )
    require_every_class(codes, weights, labels.classes)
    if form_of(machine.kernel).given_as_matrix:
        _check_kernel_matrix(X, Kernel(machine.kernel))
    used = np.flatnonzero(weights)
    if by_class:
        used = used[np.argsort(codes[used] != codes[used[0]], kind="stable")]
    everything = len(used) == X.shape[0] and not by_class
    cases = X if everything else cases_at(X, used, machine.kernel)
    if form_of(machine.kernel).given_as_matrix:
        checked = sampled_cases(len(used))
        require_semidefinite(dense(cases[checked][:, checked]), Kernel(machine.kernel))
    _check_size(cases, machine.kernel)
    kernel = _settle_kernel(machine, cases, weights[used])
    return KernelCases(X, labels, used, cases, codes[used], weights[used], kernel)


def store_input(machine: Any, X: Any, training: KernelCases, prices: SettledCosts) -> None:
    """Publish what a fit was given: the columns of X, the classes, the prices and the kernel."""
    store_columns(machine, X)
    machine._store_labels(training.labels)
    machine._store_costs(prices)
    machine._kernel = training.kernel


def warn_of_sampled_kernel(machine: Any, training: KernelCases) -> None:
    """Warn where what a machine proves rests on a property of its kernel that was checked on some cases only."""
    n, kernel = len(training.used), training.kernel
    if n > CHECKED and not kernel.semidefinite:
        warn_once_in_search(
            "sampled kernel",
            f"{type(machine).__name__} checked that {kernel.form.named(kernel)} is positive semidefinite on {CHECKED} "
            f"of {n} training cases: dual_gap_ and residual_ prove an optimum only if it is on all of them. Ignore "
            "this warning if you know that it is.",
        )


def check_kernel_parameters(machine: Any) -> None:
    """Refuse bad values of kernel, gamma, degree and coef0."""
    if not callable(machine.kernel):
        check_choice("kernel", machine.kernel, KERNELS, or_else=" or a function")
    check_number("degree", machine.degree, 0.0)
    check_number("coef0", machine.coef0)
    gamma = machine.gamma
    named = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not named and not (is_number(gamma) and np.isfinite(gamma) and float(gamma) > 0):
        raise ValueError(f"gamma must be 'scale', 'auto' or a number greater than 0; got {gamma!r}.")


def cases_at(X: Any, rows: Indices, kernel: Any) -> Any:
    """The cases at these positions; of a kernel matrix, rows and columns."""
    return X[rows][:, rows] if form_of(kernel).given_as_matrix else X[rows]


def _case_weights(sample_weight: Any, class_weight: Any, codes: Indices, classes: NDArray[Any]) -> Floats:
    """Weight of each case: its own times that of its class."""
    weights = check_weights(sample_weight, len(codes))
    if class_weight is None:
        return weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights=weights, minlength=len(classes))
        return weights * (totals.sum() / (len(classes) * np.maximum(totals, 1e-300)))[codes]
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None; got {class_weight!r}.")
    names = [to_python(label) for label in classes]
    unknown = [key for key in class_weight if to_python(key) not in names]
    if unknown:
        raise ValueError(f"class_weight has keys that are not classes: {unknown!r}; the classes are {names!r}.")
    given = [class_weight.get(name, 1.0) for name in names]
    if not all(is_number(factor) and np.isfinite(factor) and factor > 0 for factor in given):
        raise ValueError(f"class_weight must hold finite numbers greater than 0; got {class_weight!r}.")
    factors = np.array(given, dtype=np.float64)
    return weights * factors[codes]


def _settle_kernel(machine: Any, X: Any, weights: Floats) -> Kernel:
    """The kernel function, with gamma as a number."""
    gamma = machine.gamma
    if gamma == "auto":
        gamma = 1.0 / X.shape[1]
    elif gamma == "scale":
        spread = _variance(X, weights) if form_of(machine.kernel).uses_gamma else 1.0
        gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
        if not 0 < gamma < np.inf:
            raise ValueError(
                f"gamma='scale' must give a number greater than 0; got {gamma} from features and weights of variance "
                f"{spread:.3g}. Standardise the features, or name a gamma."
            )
    return Kernel(machine.kernel, float(gamma), float(machine.degree), float(machine.coef0))


def _check_size(X: Any, kernel: Any) -> None:
    """Refuse values whose squares overflow, however many cases there are and however their kernel is computed."""
    # Two passes that write nothing: absolute values would be a copy of X.
    largest = max(float(X.max()), -float(X.min())) if form_of(kernel).from_products else 0.0
    if largest > _LARGEST:
        raise ValueError(
            f"X must hold values up to {_LARGEST:g} for kernel={kernel!r}, which multiplies them; got {largest:.3g}. "
            "Standardise the features."
        )


def _variance(X: Any, weights: Floats) -> float:
    """Variance of all entries of X, each row with its weight: a case of weight 2 counts as two."""
    total = float(weights.sum()) * X.shape[1]
    if sparse.issparse(X):
        mean = float((X.T @ weights).sum()) / total
        return float((X.multiply(X).T @ weights).sum()) / total - mean**2
    centre = float((weights @ X).sum()) / total
    return float((weights @ (X - centre) ** 2).sum()) / total


def _check_kernel_matrix(K: Any, kernel: Kernel) -> None:
    """Refuse what cannot be a matrix of kernel values."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix of kernel values between the training cases; got {K.shape}."
        )
    require_symmetric(K, kernel)


def kernel_tags(tags: Any, kernel: Any) -> Any:
    """scikit-learn's tags of a machine with this kernel."""
    tags.input_tags.sparse = True
    # Tags are read before `fit` refuses an unknown name.
    tags.input_tags.pairwise = isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].given_as_matrix
    return tags


class Machine(NamedTuple):
    """One machine of two classes that a fit has to solve.

    Attributes
    ----------
    cases : KernelCases
        The cases, with two classes.
    costs : Costs
        Their prices, seen from the second class, with the cheapest error of the fit as the unit.
    """

    cases: KernelCases
    costs: Costs


def among_machines(solutions: list[Solution]) -> str:
    """How many of several machines did not converge, for a warning about the first of them."""
    if len(solutions) == 1:
        return ""
    unfinished = [str(k) for k, solution in enumerate(solutions) if not solution.converged]
    return f", in {len(unfinished)} of {len(solutions)} machines: see residuals_[{unfinished[0]}]"


# One score and two thresholds -----------------------------------------------------------------------------------------


class KernelMachineMixin(RejectOptionMixin):
    """Input and output of a classifier whose score is a kernel expansion with an intercept.

    A subclass has the parameters `kernel`, `gamma`, `degree`, `coef0` and `class_weight`, defines `_check_parameters`,
    and once fitted has `thresholds_`, the scores between which a case is rejected. Where it takes three or more classes
    (`_several_classes`) it has a machine for each against the rest, and these attributes an entry or a row per class.
    """

    kernel: str | Callable[..., Any]
    class_weight: Any
    thresholds_: tuple[float, float] | Floats
    support_: Indices
    support_vectors_: Any
    dual_coef_: Floats
    coef_: Floats
    intercept_: float | Floats
    _kernel: Kernel
    _typical: TypicalCases | None = None  # of files that were saved before there were any
    _remedy = "Raise C or the reject price, standardise the features, or try another kernel or gamma."
    _several_classes: ClassVar[bool] = False

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""

    @property
    def _break_even(self) -> float:
        """The score at which a forced answer changes; two classes only."""
        return 0.0

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[KernelCases, SettledCosts]:
        """The checked training set and prices of a fit."""
        several = self._several_classes
        training = read_training_set(self, X, y, sample_weight, class_weight=self.class_weight, several=several)
        return training, self._settle_costs(training.labels.classes)

    def _machines(self, training: KernelCases, prices: SettledCosts) -> list[Machine]:
        """The machines to fit: one for two classes, else one for each class against the rest."""
        classes = training.labels.classes
        if len(classes) == 2:
            return [Machine(training, prices.oriented)]
        shares = require_every_class(training.codes, training.weights, classes)
        return [Machine(training.sides(each), each.costs) for each in against_the_rest(prices.oriented, shares)]

    def _store_machines(
        self,
        machines: list[Machine],
        thresholds: list[tuple[float, float]],
        solutions: list[Solution],
        training: KernelCases,
        *,
        balanced: bool,
    ) -> None:
        """Publish what the solvers found; of several machines also what each of them reached."""
        models = [solution.model for solution in solutions]
        if len(machines) == 1:
            self.thresholds_ = thresholds[0]
            forget(self, "machine_costs_", "objectives_", "residuals_")
            self._store_expansion(models[0].beta, models[0].intercept, training, balanced=balanced)
            self._publish(solutions[0])
            return
        self.thresholds_ = np.array(thresholds)
        self.machine_costs_ = tuple(machine.costs for machine in machines)
        beta, intercept = np.array([model.beta for model in models]), np.array([model.intercept for model in models])
        self._store_expansion(beta, intercept, training, balanced=balanced)
        publish_machines(self, solutions)

    def _store_expansion(self, beta: Floats, intercept: Any, training: KernelCases, *, balanced: bool) -> None:
        """Publish the intercept and the cases with coefficients; `balanced` coefficients sum to 0.

        For three or more classes `beta` has a row and `intercept` an entry for each.
        """
        support = np.flatnonzero(np.atleast_2d(beta).any(axis=0))
        self.support_ = training.used[support]
        self.dual_coef_ = beta[..., support]
        self.intercept_ = float(intercept) if beta.ndim == 1 else np.array(intercept)
        self.support_vectors_ = training.cases[support] if not self._kernel.form.given_as_matrix else np.empty((0, 0))
        if self._kernel.form.linear:
            # Where the coefficients sum to 0 a shift changes nothing but the digits lost far from the origin.
            cases = centred(self.support_vectors_) if balanced and len(support) else self.support_vectors_
            coef = np.asarray(cases.T @ self.dual_coef_.T)
            self.coef_ = coef.ravel() if beta.ndim == 1 else coef.T
        else:
            forget(self, "coef_")
        self._typical = typical_cases(self._kernel, training.cases) if beta.ndim == 1 else None

    def _score(self, X: Any) -> Floats:
        """The score f of each case; a column per class for three or more."""
        form = self._kernel.form  # as fitted
        if form.linear:
            expansion = row_sums(X, self.coef_.T)
        elif form.given_as_matrix:
            expansion = row_sums(X[:, self.support_], self.dual_coef_.T)
        else:
            expansion = self._kernel.expansion(X, self.support_vectors_, self.dual_coef_.T, self._near_a_threshold)
        return expansion + self.intercept_

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to h: exact for the linear kernel, else an estimate; two classes only."""
        if self._typical is None or self._typical.mean is None:
            return compared_with_typical(self, X, self._typical)
        cases = validate_data(self, X, reset=False, **INPUT_FORM)
        amounts = (dense(cases) - self._typical.mean) * self.coef_
        base = float(self._typical.mean @ self.coef_) + self.intercept_ - self._break_even
        return Contributions(amounts, np.full(len(amounts), base), SCORE)

    def _near_a_threshold(self, expansion: Floats, rounding: Floats) -> Flags:
        """Which scores are within rounding of where an answer, or a forced one, changes."""
        f = expansion + self.intercept_
        if f.ndim == 2:
            upper = self._upper_thresholds
            rounding = rounding + 4 * EPS * (np.abs(self.intercept_) + np.abs(upper))
            return near_a_change(f, self._compared(f), upper, rounding)
        cuts = {*self.thresholds_, self._break_even}
        rounding = rounding + 4 * EPS * (abs(self.intercept_) + max(map(abs, cuts)))
        near: Flags = np.logical_or.reduce([np.abs(f - cut) <= rounding for cut in cuts])
        return near

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self, "support_")
        X = validate_data(self, X, reset=False, **INPUT_FORM)
        f = self._score(X)
        if f.ndim == 2:
            return evaluate_machines(f, self._compared(f), self._upper_thresholds)
        low, high = self.thresholds_
        return Evaluation(f - self._break_even, np.maximum(f - high, low - f), detail=f)

    def _compared(self, f: Floats) -> Floats:
        """By what the answers of three or more classes are compared: the scores themselves."""
        return f

    @property
    def _upper_thresholds(self) -> Floats:
        """The score of each of three or more machines above which it answers its class."""
        return np.asarray(self.thresholds_)[:, 1]

    def _stated_thresholds(self) -> StatedThresholds | None:
        if len(self.classes_) > 2:
            return None
        low, high = self.thresholds_
        return StatedThresholds(f"score towards {to_python(self.classes_[1])!r}", float(low), float(high))

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        if evaluation.h.ndim == 2:
            return machine_reasons(evaluation, self._upper_thresholds, self.classes_, self.costs_)
        low, high = self.thresholds_
        names = [to_python(label) for label in self.classes_]
        return [_reason(float(f), low, high, names) for f in evaluation.detail]

    def __sklearn_tags__(self) -> Any:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.classifier_tags.multi_class = self._several_classes
        return tags


def publish_machines(machine: Any, solutions: list[Solution]) -> None:
    """Store what the solvers of several machines returned: of each, and of all together."""
    machine.objectives_ = np.array([solution.objective for solution in solutions])
    machine.residuals_ = np.array([solution.residual for solution in solutions])
    machine.objective_, machine.residual_ = float(machine.objectives_.sum()), float(machine.residuals_.max())
    machine.n_iter_ = int(sum(solution.n_iter for solution in solutions))


def forget(machine: Any, *names: str) -> None:
    """Remove attributes of an earlier fit that this one has not."""
    for name in names:
        if hasattr(machine, name):
            delattr(machine, name)


def _reason(f: float, low: float, high: float, names: list[Any]) -> str:
    """One sentence: the score, both thresholds, and how far the nearer one is."""
    thresholds = f"thresholds {low:.4g} and {high:.4g}"
    if f > high:
        return f"score {f:.4g} is {f - high:.4g} above the upper of the {thresholds}: {names[1]!r}"
    if f < low:
        return f"score {f:.4g} is {low - f:.4g} below the lower of the {thresholds}: {names[0]!r}"
    nearer = names[1] if high - f < f - low else names[0]
    return f"score {f:.4g} lies between the {thresholds}, {min(high - f, f - low):.4g} from {nearer!r}"


def typical_cases(kernel: Kernel, cases: Any, linear: bool = True) -> TypicalCases | None:
    """What is remembered of the training cases for reasons; nothing of sparse ones, or of a matrix of a kernel."""
    if sparse.issparse(cases) or kernel.form.given_as_matrix:
        return None
    if linear and kernel.form.linear:
        return TypicalCases(mean=np.asarray(cases, dtype=np.float64).mean(axis=0))
    return TypicalCases(cases=background_cases(cases))


def compared_with_typical(model: Any, X: Any, typical: TypicalCases | None) -> Contributions | None:
    """Estimated contributions to the decision function of a machine."""
    if typical is None or typical.cases is None or sparse.issparse(X):
        return None
    X = validate_data(model, X, reset=False, **INPUT_FORM)
    # Checked here once: names of a frame's columns are not among the cases that are put together.
    unnamed = copy(model)
    if hasattr(unnamed, "feature_names_in_"):
        del unnamed.feature_names_in_
    background = Background(typical.cases, np.arange(X.shape[1]))
    return explain_by_sampling(unnamed.decision_function, X, background, SCORE)
