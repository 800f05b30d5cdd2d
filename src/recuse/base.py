"""What every reject-option classifier shares: labels, prices, predictions that may reject, and the score.

A classifier defines `_evaluate`, which scores cases. The rule from scores to answers is `Evaluation` in `decisions.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore
from sklearn.utils.validation import check_is_fitted, indexable

from .arrays import Floats, Indices
from .callers import clones_for_stack, combining_caller
from .costs import Costs, as_costs
from .decisions import ALL_REASONS, KINDS, Decisions, Evaluation, StatedThresholds, check_reasons
from .explaining import Contributions, ShownColumns, hardening_columns, speaking_columns
from .labels import LabelSpace, encode, label_space, preview, settle_classes, to_python
from .parameters import check_choice, check_weights
from .searching import warn_of_searched_prices, warn_once_in_search
from .solution import Solution
from .validation import check_outcomes, require_in_memory
from .warning import warn_user

ON_REJECT = ("label", "raise", "never")
_FIRST_LOOK = 256  # training cases among which an accepted one is looked for first


class RejectedSamplesError(ValueError):
    """Raised by `predict` with ``on_reject="raise"`` when cases are rejected.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rejected cases in the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from recuse import RejectedSamplesError, ThresholdRejectClassifier
    >>> X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    >>> model = ThresholdRejectClassifier(LogisticRegression(), costs=0.3, on_reject="raise").fit(X, y)
    >>> try:
    ...     model.predict(X)
    ... except RejectedSamplesError as error:
    ...     print(error.rows.tolist())
    [4, 5]
    """

    def __init__(self, rows: Indices) -> None:
        self.rows = rows
        shown = ", ".join(str(row) for row in rows[:10]) + (", ..." if len(rows) > 10 else "")
        cases = "case was" if len(rows) == 1 else "cases were"
        super().__init__(f"{len(rows)} {cases} rejected (rows {shown}): send them to manual review.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rows,)


def warn_not_converged(stopped: str, remedy: str) -> None:
    """Warn that a fit ended before it reached its tolerance: what it reached, and what to do about it.

    A `fit` warns last, when everything is stored: where warnings are errors, the estimator holds the new model.
    """
    warn_user(f"{stopped}. {remedy}", ConvergenceWarning)


def stopped_early(name: str, solution: Solution, tol: float, steps: str = "steps") -> str:
    """The first sentence of that warning for a solver that ran into its limit."""
    return f"{name} stopped after {solution.n_iter} {steps} with residual_={solution.residual:.3g} > tol={tol:g}"


def require_two_classes(classes: NDArray[Any], remedy: str = "Compare two of them, or one with the rest.") -> None:
    """Refuse more than two classes."""
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has the classes {preview(classes)}. {remedy}"
        )


class SettledCosts(NamedTuple):
    """The prices of a fit.

    Attributes
    ----------
    costs : Costs
        As given; of prices by class those of the classes of this fit.
    pos_label : label
        The positive class.
    oriented : Costs
        What a fit works with: ``classes_[1]`` as the positive class, or the prices in the order of three or more
        classes, and the cheapest error as the unit, so that no model depends on the currency. What is published as an
        amount of money is multiplied by `unit`.
    """

    costs: Costs
    pos_label: Any
    oriented: Costs

    @property
    def unit(self) -> float:
        """The price of the cheaper error."""
        return self.costs.cheaper_error


def rejects_all(evaluate: Callable[..., Evaluation], X: Any, sample_weight: Any = None, **columns: Any) -> bool:
    """Whether none of the cases with a weight is accepted; they are looked at until one of them is."""
    (X,) = indexable(X)
    rows = np.flatnonzero(check_weights(sample_weight, n_rows(X)))
    start, size = 0, _FIRST_LOOK
    while start < len(rows):
        look = rows[start : start + size]
        given = {name: np.asarray(values)[look] for name, values in columns.items() if values is not None}
        if evaluate(_safe_indexing(X, look), **given).accepted.any():
            return False
        start, size = start + size, 2 * size
    return True


def n_rows(X: Any) -> int:
    """Number of cases in a table of any kind."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)  # a sparse matrix has no length


def _orient(costs: Costs, pos_label: Any, classes: NDArray[Any]) -> Costs:
    """The prices of a fit, see `SettledCosts.oriented`."""
    costs = costs.normalised()
    return costs.swapped() if len(classes) == 2 and pos_label == classes[0] else costs


class RejectOptionMixin(ClassifierMixin, ABC):
    """Base of the reject-option classifiers.

    A subclass has the parameters `costs`, `pos_label`, `reject_label` and `on_reject`, and defines `_evaluate` and
    `_reasons`. Its `fit` gets labels and prices from `_settle_labels` and `_settle_costs`, which may refuse them, and
    stores them with `_store_labels` and `_store_costs` when nothing can fail any more.
    """

    costs: Costs | float | None
    pos_label: Any
    reject_label: Any
    on_reject: str
    classes_: NDArray[Any]
    feature_names_in_: NDArray[Any]
    # What to do about a fit that rejects every training case.
    _remedy: ClassVar[str] = "Raise the reject price, or look for features that tell the classes apart."
    # Whether the sentences of `_reasons` speak of columns themselves.
    _names_columns: ClassVar[bool] = False
    # Whether this is a clone that a stack cross-validates, or a clone of one.
    _for_stack = False

    @abstractmethod
    def _evaluate(self, X: Any) -> Evaluation:
        """Scores h and r of each case."""

    @abstractmethod
    def _reasons(self, evaluation: Evaluation) -> list[str]:
        """One sentence per case."""

    def _stated_thresholds(self) -> StatedThresholds | None:
        """The thresholds as the reasons state them; None where they speak of something else."""
        return None

    def _remarks(self, evaluation: Evaluation) -> list[str] | None:
        """What the sentences end in, behind what the columns say; None for nothing."""
        return None

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to the score towards the second class; None where that cannot be told."""
        return None

    def _speaking(self, X: Any) -> Contributions | None:
        """The contributions that sentences speak of; with three or more classes those between the two best answers."""
        return self._contributions(X) if len(self.classes_) == 2 else None

    def _hardening(self, X: Any) -> Contributions | None:
        """What each column adds to r, beyond what it adds to an average case; None where r follows from h."""
        return None

    def _settle_labels(self, y: NDArray[Any]) -> tuple[LabelSpace, Indices]:
        """Classes, reject label and answer type, and the class numbers of checked labels; nothing is stored."""
        self._check_on_reject()
        classes, codes = settle_classes(y)
        return label_space(classes, self.reject_label), codes

    def _store_labels(self, labels: LabelSpace) -> None:
        self.classes_ = labels.classes
        self._labels = labels
        self.reject_label_ = labels.reject_label

    def _check_on_reject(self) -> None:
        check_choice("on_reject", self.on_reject, ON_REJECT)

    def _settle_costs(
        self, classes: NDArray[Any], *, must_pay: bool = True, default: float | None = None, inner_pos_label: Any = None
    ) -> SettledCosts:
        """The prices and the positive class; nothing is stored.

        `default` stands for ``costs=None`` where a classifier allows it; `inner_pos_label` is the positive class that a
        wrapped classifier names.
        """
        warn_of_searched_prices()
        costs = as_costs(default if self.costs is None and default is not None else self.costs)
        named = self._named_pos_label(inner_pos_label)
        pos_label = classes[-1] if named is None else named
        known = encode(np.array([pos_label]), classes)[0] >= 0
        if len(classes) > 2 and named is not None:
            raise ValueError(f"pos_label={to_python(named)!r} names one of two classes; y has {preview(classes)}.")
        if not known:
            # Some of scikit-learn's ensembles number the classes before their estimators see them.
            numbered = classes.tolist() == [0, 1] and isinstance(to_python(named), str)
            hint = "; inside StackingClassifier or BaggingClassifier classes are numbers" if numbered else ""
            raise ValueError(f"pos_label={to_python(named)!r} must be one of the classes {preview(classes)}{hint}.")
        costs = costs.for_classes(classes, pos_label)
        if must_pay:
            costs.require_rejecting_pays(len(classes))
        return SettledCosts(costs, pos_label, _orient(costs, pos_label, classes))

    def _store_costs(self, settled: SettledCosts) -> None:
        self.costs_ = settled.costs
        self.pos_label_ = settled.pos_label

    def _named_pos_label(self, inner: Any) -> Any:
        """The positive class that this classifier or the one it wraps names, None where neither does."""
        if self.pos_label is not None and inner is not None and to_python(self.pos_label) != to_python(inner):
            raise ValueError(
                f"pos_label={to_python(self.pos_label)!r} contradicts pos_label={to_python(inner)!r} of the wrapped "
                "estimator: name the same class in both, or in one of them only."
            )
        return inner if self.pos_label is None else self.pos_label

    def _publish(self, solution: Solution) -> None:
        """Store what every solver returns."""
        self.objective_ = solution.objective
        self.residual_ = solution.residual
        self.n_iter_ = solution.n_iter

    def _warn_if_all_rejected(self, X: Any, sample_weight: Any = None, **columns: Any) -> None:
        """Warn of a fit that rejects every training case.

        Every `fit` calls it last, with the cases as given; `columns` are further arguments of `_evaluate`, one value
        per case.
        """
        if rejects_all(self._evaluate, X, sample_weight, **columns):
            self._warn_all_rejected()

    def _warn_all_rejected(self) -> None:
        if self.on_reject != "never":
            warn_once_in_search(
                "all rejected", f"{type(self).__name__} rejects every training case at {self.costs_!r}. {self._remedy}"
            )

    def _oriented_costs(self) -> Costs:
        """Return the prices as in `fit`: ``classes_[1]`` as the positive class, and the cheaper error as the unit."""
        return _orient(self.costs_, self.pos_label_, self.classes_)

    def decision_function(self, X: Any) -> Floats:
        """Class score h of each case, greater than 0 towards ``classes_[1]``."""
        return self._evaluate(X).h

    def score_samples(self, X: Any) -> Floats:
        """Acceptance score r of each case: accepted when greater than 0."""
        return self._evaluate(X).r

    def predict(self, X: Any) -> NDArray[Any]:
        """Answer each case with a class, or with ``reject_label_``."""
        self._check_on_reject()
        return self._answer(self._evaluate(X))

    def _answer(self, evaluation: Evaluation) -> NDArray[Any]:
        codes = evaluation.forced()
        if self.on_reject == "never":
            return self._labels.decode(codes)
        accepted = evaluation.accepted
        if not accepted.all():
            self._refuse_to_reject(np.flatnonzero(~accepted))
        return self._labels.decode(np.where(accepted, codes, -1))

    def _refuse_to_reject(self, rows: Indices) -> None:
        """Raise where these rejections were not to happen, or would be taken for classes."""
        if self.on_reject == "raise":
            raise RejectedSamplesError(rows)
        combiner = combining_caller(for_stack=self._for_stack)
        if combiner is not None:
            raise ValueError(
                f"{type(self).__name__} rejected {len(rows)} cases inside {combiner}, which combines answers and would "
                "take a rejection for a class: set on_reject='never', and put the reject option outermost, "
                f"ThresholdRejectClassifier({combiner}(...))."
            )

    def decide(self, X: Any, *, reasons: bool | str = True) -> Decisions:
        """Answer each case with its kind, its scores and a sentence that says why.

        The table always shows the rejections, whatever `on_reject` says. The sentences of rejected cases name the
        columns that speak for either class; with ``reasons="all"`` those of answered ones do, too.
        """
        return self._table(self._evaluate(X), X, reasons)

    def _decide_shown(
        self, X: Any, reasons: bool | str, names: NDArray[Any] | None, columns: ShownColumns
    ) -> Decisions:
        """`decide` for cases that a person knows in another form.

        Parameters
        ----------
        X : array-like
            The cases as this classifier takes them.
        reasons : bool or "all"
            As in `decide`.
        names : ndarray or None
            Names that the columns had before a transformer dropped them.
        columns : ShownColumns
            The columns of the table that X was made from.
        """
        named = self
        if names is not None:
            named = copy(self)  # the names are for the sentences only: X has none, and must pass the check as it is
            named.feature_names_in_ = names
        return named._table(self._evaluate(X), X, reasons, columns, self)

    def _table(
        self,
        evaluation: Evaluation,
        X: Any,
        reasons: bool | str,
        columns: ShownColumns | None = None,
        asked: RejectOptionMixin | None = None,
    ) -> Decisions:
        check_reasons(reasons)
        forced, kinds, n = evaluation.forced(), evaluation.kinds(), len(evaluation.r)
        text = np.full(n, "", dtype=object)
        if reasons:
            text[:] = self._reasons(evaluation)
            explained = kinds < 2 if reasons == ALL_REASONS else kinds == 1
            asked, shown = asked or self, columns or self._shown(X)
            rows = np.flatnonzero(explained & (not self._names_columns))
            text[rows] += np.array(speaking_columns(asked._speaking, X, rows, self.classes_, shown), dtype=object)
            rejected = np.flatnonzero(kinds == 1)
            text[rejected] += np.array(hardening_columns(asked._hardening, X, rejected, shown), dtype=object)
            remarks = self._remarks(evaluation)
            text = text if remarks is None else text + np.array(remarks, dtype=object)
        best = evaluation.two_best() if evaluation.h.ndim == 2 else None
        return Decisions(
            label=self._labels.decode(np.where(kinds == 0, forced, -1)),
            forced=self._labels.decode(forced),
            second=None if best is None else self._labels.decode(best.second),
            score=None if best is None else best.first_score,
            second_score=None if best is None else best.second_score,
            accepted=kinds == 0,
            kind=np.array(KINDS)[kinds],
            h=evaluation.h if evaluation.h.ndim == 1 else evaluation.h.max(axis=1),
            r=evaluation.r,
            reason=text,
            classes=self.classes_,
            reject_label=self.reject_label_,
            costs=self.costs_,
            pos_label=self.pos_label_,
            index=getattr(X, "index", None),
        )

    def _shown(self, X: Any) -> ShownColumns:
        """The columns that this classifier is given, as a person knows them."""
        names = getattr(self, "feature_names_in_", None)
        return ShownColumns.of(X, None if names is None else list(names))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return 1 - mean cost / largest error price: accuracy at unit prices when nothing is rejected.

        Prices are those of the model, so that scores of models with different prices cannot be compared: a search over
        `costs` by this score picks the cheapest rejection, whatever it is worth, and warns. Search with a scorer at the
        prices that hold, ``scoring=get_scorer("neg_expected_cost", costs=...)``. A search by a scorer of your own and
        `validation_curve` over `costs` give no warning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.
        """
        check_is_fitted(self)
        require_in_memory(self, X)
        truth = check_outcomes(X, y, self.classes_)
        evaluation = self._evaluate(X)
        answers = evaluation.forced() if self.on_reject == "never" else evaluation.answers()
        costs, weights = self._oriented_costs(), check_weights(sample_weight, len(truth))
        prices = costs.prices(truth, answers, len(self.classes_))
        return float(1 - np.average(prices, weights=weights) / costs.largest_error)

    def __sklearn_clone__(self) -> Any:
        """Clone, and tell the clone if its answers are for a stack: a worker process could not find out."""
        cloned = super().__sklearn_clone__()
        if self._for_stack or clones_for_stack():
            cloned._for_stack = True
        return cloned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
