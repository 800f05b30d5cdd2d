"""Class labels, the label of a rejected case, and the type of the array that holds both.

All three are settled once, from the classes seen in ``fit``, so that a batch without a rejection has the same
type as one with many.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AUTO = "auto"
REJECT_TEXT = "[abstain]"


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """The classes of a problem and the label that marks a rejected case.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted distinct labels, as they came.
    reject_label : object
        What a rejected case holds; never one of the classes.
    outputs : ndarray of shape (n_classes + 1,)
        The classes and, last, the reject label, in the type of every answer: indexed by class number, with -1
        for a rejection.
    """

    classes: NDArray[Any]
    reject_label: Any
    outputs: NDArray[Any]

    def decode(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Labels of class numbers; -1 is the reject label."""
        return self.outputs[codes]

    def encode(self, y: Any, name: str = "y") -> NDArray[np.intp]:
        """Class numbers of labels; the reject label becomes -1, anything else is refused."""
        codes = encode(y, self.outputs)
        if (codes < 0).any():
            raise ValueError(
                f"{name} holds {some(np.asarray(y)[codes < 0])}, which is neither a class {some(self.classes)} "
                f"nor the reject label {plain(self.reject_label)!r}."
            )
        return np.where(codes == len(self.classes), -1, codes)


def label_space(classes: NDArray[Any], reject_label: Any = AUTO) -> LabelSpace:
    """Settle the reject label and the type of the answers for these classes.

    Parameters
    ----------
    classes : ndarray
        Sorted distinct labels.
    reject_label : object, default="auto"
        The label wanted, or "auto" for -1, 0 or ``"[abstain]"``, whichever fits the classes.
    """
    answers = _as_answers(classes)
    if isinstance(reject_label, str) and reject_label == AUTO:
        reject_label = _automatic_label(answers)
    reject_label = plain(reject_label)
    _check_label(reject_label, classes, answers)
    return LabelSpace(classes, reject_label, _join(answers, reject_label))


def plain(label: Any) -> Any:
    """Return a label as a Python object, so that messages and files do not say ``np.int64(1)``."""
    return label.item() if isinstance(label, np.generic) else label


def encode(y: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of the values of `y` in `labels`; -1 where a value is not among them."""
    y = np.asarray(y)
    if y.dtype.kind in "biuf" and labels.dtype.kind in "biuf":
        return _encode_numbers(y, labels)
    positions = {plain(label): i for i, label in enumerate(labels)}
    distinct, inverse = _distinct(y)
    found = np.array([positions.get(plain(value), -1) for value in distinct], dtype=np.intp)
    return found[inverse]


def require_known(y: NDArray[Any], name: str = "y") -> None:
    """Refuse labels with missing values."""
    if y.dtype.kind == "f":
        missing = bool(np.isnan(y).any())
    else:
        missing = y.dtype.kind == "O" and any(value is None or value != value for value in y.tolist())
    if missing:
        raise ValueError(f"{name} holds missing values (NaN or None): every case needs a known outcome.")


def distinct_labels(y: Any) -> NDArray[Any]:
    """Sorted distinct labels; a clear error where they cannot be sorted."""
    y = np.asarray(y)
    try:
        return np.unique(y)
    except TypeError:
        raise ValueError(f"Labels must be all numbers or all text; got {some(y)}.") from None


def _encode_numbers(y: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    codes = np.full(y.shape, -1, dtype=np.intp)
    for i, label in enumerate(labels):  # a handful of classes: one comparison each beats a sort
        codes[y == label] = i
    return codes


def _distinct(y: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct values in order of appearance, and the position of each value among them."""
    seen: dict[Any, int] = {}
    inverse = np.fromiter((seen.setdefault(value, len(seen)) for value in y.tolist()), dtype=np.intp, count=len(y))
    return list(seen), inverse


def _as_answers(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes in the type answers will have, before the reject label is added."""
    if classes.dtype.kind == "O":
        # Objects that are all text stay objects (any width); objects that are all numbers become numbers.
        inferred = np.array(classes.tolist())
        return classes if inferred.dtype.kind in "UO" else _as_answers(inferred)
    if classes.dtype.kind == "b":
        warnings.warn(
            "The labels are booleans, which have no third value: predictions are 1, 0 and the reject label.",
            UserWarning,
            stacklevel=2,
        )
        return classes.astype(np.int8)
    if classes.dtype.kind == "u":
        signed = np.promote_types(classes.dtype, np.int8)
        return classes.astype(np.int64 if signed.kind == "f" else signed)
    return classes


def _automatic_label(answers: NDArray[Any]) -> Any:
    if answers.dtype.kind not in "if":
        return REJECT_TEXT
    for label in (-1, 0):
        if label not in answers:
            return answers.dtype.type(label)
    return answers.dtype.type(answers.min() - 1) if answers.dtype.kind == "f" else int(answers.min()) - 1


def _check_label(label: Any, classes: NDArray[Any], answers: NDArray[Any]) -> None:
    if label is None or label != label:
        raise ValueError(f"reject_label must be a number or a text; got {label!r}, which CSV files cannot keep.")
    if any(plain(known) == label for known in (*classes, *answers)):
        raise ValueError(
            f"reject_label={label!r} is one of the classes {some(classes)}: choose a label that is not a class."
        )


def _join(answers: NDArray[Any], label: Any) -> NDArray[Any]:
    """The answers and the label in one array whose type keeps every one of them whole."""
    both_text = answers.dtype.kind == "U" and isinstance(label, str)
    both_numbers = answers.dtype.kind in "if" and isinstance(label, int | float)
    if both_text:
        return np.append(answers, np.array([label]))  # NumPy takes the wider of the two
    if both_numbers:
        integers = answers.dtype.kind == "i" and isinstance(label, int)
        own = np.min_scalar_type(label) if integers else np.dtype(type(label))
        if answers.dtype.kind == "f":
            own = answers.dtype
        return np.append(answers, label).astype(np.promote_types(answers.dtype, own))
    joined = np.empty(len(answers) + 1, dtype=object)
    joined[:-1] = answers.tolist()
    joined[-1] = label
    return joined


def some(values: Any, limit: int = 5) -> str:
    """A short list of the distinct values, for messages."""
    shown = list(dict.fromkeys(plain(value) for value in values))
    return "[" + ", ".join(repr(value) for value in shown[:limit]) + (", ...]" if len(shown) > limit else "]")
