"""Class labels, the label of a rejected case, and the type of the array that holds both.

All three are fixed in ``fit``, from the classes seen there, so that predictions have the same type whether or not a
batch contains rejected cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Indices
from .warning import warn_user

AUTO = "auto"
REJECT_TEXT = "[abstain]"


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """The classes of a problem and the label that marks a rejected case.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted distinct labels, in the type they were given in.
    reject_label : object
        The label of a rejected case; never one of the classes.
    outputs : ndarray of shape (n_classes + 1,)
        The classes and, last, the reject label, in the type of every answer: indexed by class number, with -1
        for a rejection.
    """

    classes: NDArray[Any]
    reject_label: Any
    outputs: NDArray[Any]

    def decode(self, codes: Indices) -> NDArray[Any]:
        """Labels for class numbers; -1 gives the reject label."""
        return self.outputs[codes]

    def encode(self, y: Any, name: str = "y") -> Indices:
        """Class numbers of labels; the reject label gives -1, and anything else is refused."""
        codes = encode(y, self.outputs)
        if (codes < 0).any():
            raise ValueError(
                f"{name} holds {preview(np.asarray(y)[codes < 0])}, which is neither a class {preview(self.classes)} "
                f"nor the reject label {to_python(self.reject_label)!r}."
            )
        return np.where(codes == len(self.classes), -1, codes)


def label_space(classes: NDArray[Any], reject_label: Any = AUTO) -> LabelSpace:
    """Choose the reject label and the type of the answers for these classes.

    Parameters
    ----------
    classes : ndarray
        Sorted distinct labels.
    reject_label : object, default="auto"
        The label to use, or "auto" for -1, 0 or ``"[abstain]"``, whichever fits the classes.
    """
    answers = _as_answers(classes)
    if isinstance(reject_label, str) and reject_label == AUTO:
        reject_label = automatic_label(answers)
    reject_label = to_python(reject_label)
    _check_label(reject_label, classes, answers)
    return LabelSpace(classes, reject_label, _join(answers, reject_label))


def to_python(label: Any) -> Any:
    """Return a label as a Python object, so that messages and files do not say ``np.int64(1)``."""
    return label.item() if isinstance(label, np.generic) else label


def as_labels(y: Any) -> NDArray[Any]:
    """Return labels of any kind of column as a NumPy array of numbers, booleans or text.

    Nullable, Arrow-backed and categorical columns may arrive as objects; here they get the type of the values they
    hold. This comes before any check of scikit-learn, which would turn nullable integers into floats.
    """
    y = np.asarray(y)
    if y.dtype.kind == "T":  # NumPy's variable-width text, which scikit-learn does not take
        y = y.astype(object)
    if y.dtype.kind != "O" or y.size == 0:
        return y
    values = [to_python(value) for value in y.ravel().tolist()]
    kinds = {type(value) for value in values}
    if kinds == {bool} or kinds <= {int, float}:
        return np.array(values).reshape(y.shape)
    return y


def encode(y: Any, labels: NDArray[Any]) -> Indices:
    """Positions of the values of `y` in `labels`; -1 where a value is not among them."""
    y = np.asarray(y)
    codes = np.full(y.shape, -1, dtype=np.intp)
    for i, label in enumerate(labels.tolist()):  # a handful of classes: one comparison each beats a sort
        codes[y == label] = i
    return codes


def require_known(y: NDArray[Any], name: str = "y") -> None:
    """Refuse labels with missing values."""
    if y.dtype.kind == "f":
        missing = bool(np.isnan(y).any())
    else:
        missing = y.dtype.kind == "O" and any(is_missing(value) for value in y.tolist())
    if missing:
        raise ValueError(f"{name} holds missing values (NaN, NA or None): every case needs a known outcome.")


def require_numbers_or_text(y: NDArray[Any], name: str = "y") -> None:
    """Refuse labels that are neither numbers, booleans nor text: dates, intervals, bytes."""
    if y.dtype.kind in "biufU" or y.size == 0:
        return
    values = y.ravel().tolist() if y.dtype.kind == "O" else list(y.ravel()[:1])
    other = next((value for value in values if not isinstance(value, str | int | float)), None)
    if other is not None:
        raise ValueError(
            f"{name} holds {other} ({type(other).__name__}), but labels must be numbers, booleans or text: "
            "turn dates, intervals and the like into text first."
        )


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NA or NaT."""
    # pandas' NA has no truth value, so `value != value` would fail for it.
    missing_type = type(value).__name__ in ("NAType", "NaTType", "NoneType")
    return missing_type or (isinstance(value, float) and value != value)


def distinct_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Sorted distinct labels; a clear error where they cannot be sorted."""
    if y.dtype.kind in "biuf":
        return np.unique(y)
    try:
        return np.array(sorted(set(y.tolist())), dtype=y.dtype)  # hashing text beats sorting all of it
    except TypeError:
        raise ValueError(f"Labels must be all numbers or all text; got {preview(y)}.") from None


def settle_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Sorted distinct labels, of which there must be two at least, and the class number of each case."""
    classes = distinct_labels(y)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {to_python(classes[0])!r}: a classifier needs cases of two classes.")
    return classes, encode(y, classes)


def _as_answers(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes in the type of the answers, before the reject label is added."""
    if classes.dtype.kind == "b":
        warn_user("The labels are booleans, which have no third value: predictions are 1, 0 and the reject label.")
        return classes.astype(np.int8)
    if classes.dtype.kind == "u":
        if int(classes.max()) > np.iinfo(np.int64).max:
            return classes.astype(object)  # no signed integer holds them
        signed = np.promote_types(classes.dtype, np.int8)
        return classes.astype(np.int64 if signed.kind == "f" else signed)
    return classes


def automatic_label(answers: NDArray[Any]) -> Any:
    """The reject label for these classes, where the user names none."""
    numbers = answers.tolist()
    if isinstance(numbers[0], str):
        return REJECT_TEXT
    return next(label for label in (-1, 0, min(numbers) - 1) if label not in numbers)


def require_label(label: Any, name: str = "reject_label") -> None:
    """Refuse what can be no label: an estimator, an array, a missing value."""
    label = to_python(label)
    if not isinstance(label, str | int | float) or label != label:
        raise ValueError(f"{name} must be a number or a text; got {label!r}.")


def _check_label(label: Any, classes: NDArray[Any], answers: NDArray[Any]) -> None:
    require_label(label)
    if label in classes.tolist() or label in answers.tolist():
        raise ValueError(
            f"reject_label={label!r} is one of the classes {preview(classes)}: choose a label that is not a class."
        )


def _join(answers: NDArray[Any], label: Any) -> NDArray[Any]:
    """The answers and the label in one array, of a type that represents all of them exactly."""
    wanted = [*answers.tolist(), label]
    if answers.dtype.kind == "U" and isinstance(label, str):
        return np.array(wanted)  # NumPy takes the width of the longest
    if answers.dtype.kind in "if" and isinstance(label, int | float):
        candidates = [answers.dtype, np.promote_types(answers.dtype, np.min_scalar_type(label)), np.dtype(np.float64)]
        for dtype in candidates:
            if _holds(dtype, wanted):
                return np.array(wanted, dtype=dtype)
    joined = np.empty(len(wanted), dtype=object)
    joined[:] = wanted
    return joined


def _holds(dtype: np.dtype[Any], values: list[Any]) -> bool:
    try:
        return bool(np.array(values, dtype=dtype).tolist() == values)
    except OverflowError:
        return False


def preview(values: Any, limit: int = 5) -> str:
    """A short list of the distinct values, for messages."""
    shown = list(dict.fromkeys(to_python(value) for value in values))
    return "[" + ", ".join(repr(value) for value in shown[:limit]) + (", ...]" if len(shown) > limit else "]")
