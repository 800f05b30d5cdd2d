"""Which of scikit-learn's estimators is calling: one that would take a rejection for a class, or a search.

`predict` gives a rejected case a label that is no class. Estimators that combine the answers of others know classes
only, and do not look at what they are given: bagging takes the answer for the number of a class, and -1 is the number
of the last one; AdaBoost counts a rejection as an error in `fit` and as a vote for neither class later; a stack or a
chain takes it for the value of a feature. scikit-learn has no tag that a classifier could raise against this, and
fitting looks the same as in a harmless search. So `predict`, before it returns a rejection, looks at who called it.

A worker process does not know for whom it works. A stack cross-validates the answers of clones there, and clones them
in the user's process: the clone is told, see `clones_for_stack`, and carries it along.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import currentframe
from types import FrameType
from typing import Any

from .routing import is_search

_STACK = "sklearn.ensemble._stacking."
_CROSS_VALIDATES = "cross_val_predict"
# What each of its folds runs, here or in a worker process.
_FOLD = "sklearn.model_selection._validation._fit_and_predict"
# Beginnings of the names of functions that combine answers, and the estimator they belong to. Where scikit-learn
# renames one of them, tests/test_combining.py fails.
_COMBINERS = {
    "sklearn.ensemble._bagging.": "BaggingClassifier",
    _STACK: "StackingClassifier",
    "sklearn.ensemble._voting.": "VotingClassifier",
    "sklearn.ensemble._weight_boosting.": "AdaBoostClassifier",
    "sklearn.multiclass.OneVsOneClassifier.": "OneVsOneClassifier",
    "sklearn.multioutput.ClassifierChain.": "ClassifierChain",
    "sklearn.multioutput._BaseChain.": "ClassifierChain",
}
# A scorer inside a combiner, scikit-learn's or the user's, sees the rejections itself.
_SCORERS = ("sklearn.metrics.", "sklearn.model_selection._validation._score")
_SEARCHES = "sklearn.model_selection._search"
# Modules between a user's line and the classifier that the user has not written.
HAND_ON = ("joblib.", "sklearn.", f"{__package__}.")


def combining_caller(*, for_stack: bool = False) -> str | None:
    """Name of the estimator that will take the answers now being computed for classes; None if nobody will.

    A class of the user between the two, like a Pipeline or a search, is taken to hand the answers on. `for_stack` says
    that the classifier was cloned to be cross-validated by a stack, wherever that happens.
    """
    for frame in _frames():
        where = _where(frame)
        if where.startswith(_SCORERS):
            return None
        combiner = next((name for start, name in _COMBINERS.items() if where.startswith(start)), None)
        if combiner is None and for_stack and where == _FOLD:
            combiner = _COMBINERS[_STACK]
        if combiner is not None:
            return combiner
    return None


def clones_for_stack() -> bool:
    """Whether a stack now clones an estimator to cross-validate its answers; those it keeps are other clones."""
    return any(_where(frame).startswith(_STACK) and _CROSS_VALIDATES in frame.f_code.co_names for frame in _frames())


def calling_search() -> Any:
    """The search for hyper-parameters that fits one of its candidates now; None if there is none in this process."""
    searches = (frame.f_locals.get("self") for frame in _frames() if _module(frame) == _SEARCHES)
    return next(filter(is_search, searches), None)


def _frames() -> Iterator[FrameType]:
    """The calls that led here, the latest first."""
    frame = currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _where(frame: FrameType) -> str:
    """The full name of the function that runs in a frame."""
    return f"{_module(frame)}.{frame.f_code.co_qualname}"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
