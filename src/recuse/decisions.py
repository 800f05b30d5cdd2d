"""From scores to answers, and Decisions: the table behind every answer.

A reject-option classifier is a pair (h, r). The rule is here and only here: a case is accepted when r is greater than
0, and its class is the sign of h, or with three or more classes the largest of its h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Flags, Floats, Indices
from .costs import Costs, answer_columns
from .extras import require
from .labels import preview, to_python
from .rounding import SAME, on_threshold

KINDS = ("accept", "ambiguity", "novelty")
ALL_REASONS = "all"


def check_reasons(reasons: Any) -> None:
    """Refuse what says nothing about the reasons wanted."""
    if not (isinstance(reasons, bool | np.bool_) or reasons == ALL_REASONS):
        raise ValueError(
            f"reasons={reasons!r} is not known: give True for the columns of rejected cases, {ALL_REASONS!r} for those "
            "of every case, or False for no reasons."
        )


def require_numbers(scores: Floats) -> None:
    """Refuse scores that are NaN: no comparison with them holds, so that cases would be answered for no reason."""
    unknown = np.flatnonzero(np.isnan(scores).reshape(len(scores), -1).any(axis=1))
    if len(unknown):
        raise ValueError(
            f"The scores of {len(unknown)} cases (rows {preview(unknown)}) are not numbers: their values are too large "
            "to be multiplied. Check them, and scale or clip the features."
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of a batch.

    Attributes
    ----------
    h : ndarray of shape (n,) or (n, n_classes)
        Class score: positive towards the second class; with more than two classes, one column per class.
    r : ndarray of shape (n,)
        Acceptance score.
    novel : ndarray of bool of shape (n,), optional
        Which of the rejected cases are novelties rather than ambiguous.
    detail : object
        What the classifier's own `_reasons` needs besides the scores.
    class_scores : ndarray of shape (n, n_classes), optional
        With more than two classes: what a person is shown for each, probabilities where there are any; by default h.
    """

    h: Floats
    r: Floats
    novel: Flags | None = None
    detail: Any = None
    class_scores: Floats | None = None

    def __post_init__(self) -> None:
        require_numbers(self.r)
        require_numbers(self.h)

    @property
    def accepted(self) -> Flags:
        """Which cases are answered."""
        return self.r > 0

    def forced(self) -> Indices:
        """Class numbers without the reject option."""
        return (self.h > 0).astype(np.intp) if self.h.ndim == 1 else self.h.argmax(axis=1)

    def two_best(self) -> TwoBest:
        """With three or more classes: the best answer to each case, and of the others the most probable one."""
        shown = self.h if self.class_scores is None else self.class_scores
        first, rows = self.forced(), np.arange(len(self.h))
        others = shown.astype(np.float64)
        others[rows, first] = -np.inf
        second = others.argmax(axis=1)
        return TwoBest(first, second, shown[rows, first], shown[rows, second])

    def answers(self) -> Indices:
        """Column of the price matrix of each case: its class, or one of the two kinds of rejection after them."""
        n_classes = 2 if self.h.ndim == 1 else self.h.shape[1]
        return answer_columns(self.forced(), self.kinds(), n_classes)

    def kinds(self) -> Indices:
        """Position in `KINDS` of each case."""
        kinds = np.where(self.accepted, 0, 1)
        if self.novel is not None:
            kinds[self.novel & ~self.accepted] = 2
        return kinds


class TwoBest(NamedTuple):
    """Class numbers of the best answer to each case and of its rival, and what a person is shown for each."""

    first: Indices
    second: Indices
    first_score: Floats
    second_score: Floats


def least_cost(probabilities: Floats, matrix: Floats) -> tuple[Floats, Floats]:
    """Scores h and r of the answer of least expected cost, for three or more classes.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_classes)
        Of each class.
    matrix : ndarray of shape (n_classes + 1, n_classes + 2)
        Prices, see `Costs.matrix`.

    Returns
    -------
    h : ndarray of shape (n, n_classes)
        1 - expected price of each answer / largest error price: the probabilities themselves where all errors cost the
        same. The best answer has the largest; where prices differ by rounding they are equal, and the first is taken.
    r : ndarray of shape (n,)
        What the best answer saves over a rejection.
    """
    errors, reject = matrix[:-1, :-2], matrix[:-1, -2]
    expected = _expected(probabilities, errors)
    best = expected.min(axis=1, keepdims=True)
    expected = np.where(expected <= best + SAME * errors.max(), best, expected)
    saved = _expected(probabilities, reject[:, None])[:, 0] - best[:, 0]
    return 1 - expected / errors.max(), on_threshold(saved, (0.0,))


def _expected(probabilities: Floats, prices: Floats) -> Floats:
    """Mean price of each column; class after class, so that no answer depends on the other cases of a batch."""
    total = np.zeros((len(probabilities), prices.shape[1]))
    for p, row in zip(probabilities.T, prices, strict=True):
        total += p[:, None] * row
    return total


def two_best_reasons(
    best: TwoBest,
    accepted: Flags,
    classes: NDArray[Any],
    matrix: Floats,
    sure: str,
    unsure: str,
    probabilities: Floats | None = None,
) -> list[str]:
    """One sentence per case of three or more classes.

    Parameters
    ----------
    best : TwoBest
        The two best answers to each case.
    accepted : ndarray of bool
        Which cases are answered.
    classes : ndarray
        Their labels.
    matrix : ndarray
        Prices, see `Costs.matrix`.
    sure, unsure : str
        Why a case is answered, and why not.
    probabilities : ndarray of shape (n, n_classes), optional
        Of each class. Then the sentence of a rejected case also names a third class, if that is what makes the best
        answer expensive: an unlikely class may have dear errors.
    """
    names = [repr(to_python(label)) for label in classes]
    texts = []
    third = [""] * len(accepted) if probabilities is None else _third_classes(best, probabilities, matrix, names)
    columns = (*(column.tolist() for column in (*best, accepted)), third)
    for first, second, p, q, is_accepted, other in zip(*columns, strict=True):
        if is_accepted:
            texts.append(f"{names[first]} ({p:.3g}), before {names[second]} ({q:.3g}): {sure}")
        else:
            price = max(matrix[first, second], matrix[second, first])
            confusing = (
                f"confusing them costs {'' if matrix[first, second] == matrix[second, first] else 'up to '}{price:.6g}"
            )
            texts.append(f"either {names[first]} ({p:.3g}) or {names[second]} ({q:.3g}); {confusing}{other}; {unsure}")
    return texts


def _third_classes(best: TwoBest, probabilities: Floats, matrix: Floats, names: list[str]) -> list[str]:
    """What is said of a class other than the two best that makes most of what the best answer is expected to cost."""
    at_risk = probabilities * matrix[:-1, :-2].T[best.first]
    dearest, rows = at_risk.argmax(axis=1), np.arange(len(at_risk))
    # By more than rounding, lest a case that two classes make equally dear changes its sentence with the batch.
    others = at_risk[rows, dearest] > at_risk[rows, best.second] * (1 + SAME) + SAME * matrix.max()
    texts = [""] * len(at_risk)
    for row in np.flatnonzero(others).tolist():
        answer, truth = best.first[row], dearest[row]
        p, price = probabilities[row, truth], matrix[truth, answer]
        texts[row] = f"; {names[truth]} ({p:.3g}) answered with {names[answer]} would cost {price:.6g}"
    return texts


class StatedThresholds(NamedTuple):
    """The thresholds that reasons speak of: cases between them are rejected.

    Attributes
    ----------
    score : str
        What is compared with them, such as "probability of 'yes'".
    lower, upper : float
        The two thresholds; infinite on a side that is never answered.
    """

    score: str
    lower: float
    upper: float


class Decision(NamedTuple):
    """One row of a `Decisions` table."""

    label: Any
    forced: Any
    accepted: bool
    kind: str
    h: float
    r: float
    reason: str


class ClassDecision(NamedTuple):
    """One row of a `Decisions` table of three or more classes."""

    label: Any
    forced: Any
    second: Any
    accepted: bool
    kind: str
    h: float
    r: float
    score: float
    second_score: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Answers to a batch of cases, one row per case.

    Attributes
    ----------
    label : ndarray
        The answer: a class, or `reject_label`.
    forced : ndarray
        The class the model would give if it had no reject option; same type as `label`.
    accepted : ndarray of bool
        Whether the model answers the case itself.
    kind : ndarray of str
        ``"accept"``, ``"ambiguity"`` (close to several classes) or ``"novelty"`` (far from all of them).
    h : ndarray of float
        Class score as from `decision_function`: greater than 0 towards the second class, whichever is positive (with
        three or more classes: the highest of their scores).
    r : ndarray of float
        Acceptance score: the case is accepted when it is greater than 0.
    reason : ndarray of str
        One sentence per case.
    classes : ndarray
        The classes of the model, without the reject label.
    reject_label : object
        What `label` holds for a rejected case.
    costs, pos_label
        The model's prices and its positive class, for metrics; None where they are not known.
    index : pandas index or ndarray of int, optional
        Row names of the cases, where they came as a pandas frame; positions in the table, where only some of its cases
        were answered (`cross_val_decide` over time).
    second : ndarray, optional
        With three or more classes: of the other classes the most probable one.
    score, second_score : ndarray of float, optional
        With three or more classes: the probability, or score, of `forced` and of `second`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import recuse
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(
    ...     StandardScaler(), recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.1)
    ... ).fit(X, y)
    >>> recuse.decide(model, X[:100])
    Decisions(100 cases: 87 accepted, 13 ambiguity, 0 novelty)
    """

    label: NDArray[Any]
    forced: NDArray[Any]
    accepted: Flags
    kind: NDArray[np.str_]
    h: Floats
    r: Floats
    reason: NDArray[Any]
    classes: NDArray[Any]
    reject_label: Any
    costs: Costs | None = None
    pos_label: Any = None
    index: Any = None
    second: NDArray[Any] | None = None
    score: Floats | None = None
    second_score: Floats | None = None

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self._columns().items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"The columns of a Decisions table must have one length; got {lengths}.")

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self._row._fields}

    @property
    def _row(self) -> Any:
        """What a row of this table is."""
        return Decision if self.second is None else ClassDecision

    @property
    def rejected(self) -> Flags:
        """Which cases the model leaves for manual review."""
        return ~self.accepted

    def __len__(self) -> int:
        return len(self.label)

    def __eq__(self, other: object) -> bool:
        """Whether two tables have the same labels and hold the same answers, scores and reasons."""
        if not isinstance(other, Decisions):
            return NotImplemented
        return self._same_labels(other) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._columns().values(), other._columns().values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # tables compare by content, and their arrays can change

    def _same_labels(self, other: Decisions) -> bool:
        return np.array_equal(self.classes, other.classes) and bool(
            to_python(self.reject_label) == to_python(other.reject_label)
        )

    def __bool__(self) -> bool:
        raise TypeError("A Decisions table has no truth value: use len(decisions) or decisions.accepted.all().")

    def __getitem__(self, rows: Any) -> Decisions | Decision | ClassDecision:
        """Return one row for an integer, a table of its own for a slice, a mask or a list of positions."""
        if isinstance(rows, str):
            raise TypeError(f"Columns are attributes: use decisions.{rows}, or decisions.to_pandas()[{rows!r}].")
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.ndim == 0 and rows.dtype.kind == "b":
                raise TypeError(
                    f"decisions[{bool(rows)}] is no row: use a position, a slice, or a mask with one value per case."
                )
            rows = rows.astype(np.intp) if rows.size == 0 else rows  # an empty list has no type of its own
            if rows.ndim == 0:
                return self._row(*(to_python(column[rows]) for column in self._columns().values()))
        # Copies: a slice of an array is a view, and a change in one table would show in the other.
        columns: dict[str, Any] = {name: column[rows].copy() for name, column in self._columns().items()}
        columns["classes"] = self.classes.copy()
        return replace(self, **columns, index=None if self.index is None else self.index[rows])

    def __iter__(self) -> Iterator[Any]:
        return (self._row(*row) for row in zip(*(column.tolist() for column in self._columns().values()), strict=True))

    def counts(self) -> dict[str, int]:
        """Return the number of cases of each kind."""
        return {kind: int(np.count_nonzero(self.kind == kind)) for kind in KINDS}

    def to_pandas(self, index: Any = None) -> Any:
        """Return the table as a pandas DataFrame.

        The rows have the index of the frame the cases came in, so that the two can be joined; `index` overrides it.
        """
        pd = require("pandas", "to_pandas")
        return pd.DataFrame(self._columns(), index=self.index if index is None else index)

    @staticmethod
    def concatenate(parts: Sequence[Decisions]) -> Decisions:
        """Stack tables of the same model, or of models fitted to the same classes.

        Where their prices differ, the whole has none: a metric then needs them.
        """
        if len(parts) == 0:
            raise ValueError("Nothing to stack: give at least one Decisions table.")
        first, *rest = parts
        for other in rest:
            if not first._same_labels(other):
                raise ValueError(
                    "Cannot stack Decisions of different labels: classes "
                    f"{first.classes.tolist()} with reject label {first.reject_label!r}, and "
                    f"{other.classes.tolist()} with {other.reject_label!r}."
                )
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in first._columns()
        }
        columns["classes"] = first.classes.copy()
        index = _stacked([part.index for part in parts])
        if any((part.costs, to_python(part.pos_label)) != (first.costs, to_python(first.pos_label)) for part in rest):
            columns |= {"costs": None, "pos_label": None}
        return replace(first, **columns, index=index)

    def __repr__(self) -> str:
        accepted, *rejected = self.counts().items()
        shown = ", ".join(f"{count} {kind}" for kind, count in rejected)
        return f"Decisions({len(self)} cases: {accepted[1]} accepted, {shown})"


def _stacked(indices: list[Any]) -> Any:
    """Row names, or positions, one after another; None unless all tables have the same of the two."""
    if any(index is None for index in indices) or len({isinstance(index, np.ndarray) for index in indices}) > 1:
        return None
    return np.concatenate(indices) if isinstance(indices[0], np.ndarray) else indices[0].append(indices[1:])
