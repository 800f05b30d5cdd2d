"""Which of scikit-learn's estimators is calling: one that would take a rejection for a class, or a search.

`predict` gives a rejected case a label that is no class. Estimators that combine the answers of others know classes
only, and do not look at what they are given: bagging takes the answer for the number of a class, and -1 is the number
of the last one; AdaBoost counts a rejection as an error in `fit` and as a vote for neither class later; a stack or a
chain takes it for the value of a feature. scikit-learn has no tag that a classifier could raise against this, and
fitting looks the same as in a harmless search. So `predict`, before it returns a rejection, looks at who called it.
"""

from __future__ import annotations

from inspect import currentframe
from typing import Any

# Beginnings of the names of functions that combine answers, and the estimator they belong to. Where scikit-learn
# renames one of them, tests/test_combining.py fails.
_COMBINERS = {
    "sklearn.ensemble._bagging.": "BaggingClassifier",
    "sklearn.ensemble._stacking.": "StackingClassifier",
    "sklearn.ensemble._voting.": "VotingClassifier",
    "sklearn.ensemble._weight_boosting.": "AdaBoostClassifier",
    "sklearn.multiclass.OneVsOneClassifier.": "OneVsOneClassifier",
    "sklearn.multioutput.ClassifierChain.": "ClassifierChain",
    "sklearn.multioutput._BaseChain.": "ClassifierChain",
}
# These hand answers on as they are, between a combiner and the classifier: a Pipeline, a search, cross_val_predict.
HAND_ON = ("joblib.", "sklearn.", f"{__package__}.")
# A scorer inside a combiner sees the rejections itself, and keeps them.
_KEEP = "sklearn.metrics."


def combining_caller() -> str | None:
    """Name of the estimator that will take the answers now being computed for classes; None if nobody will."""
    frame = currentframe()
    while frame is not None:
        where = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}"
        if not where.startswith(HAND_ON) or where.startswith(_KEEP):
            return None
        combiner = next((name for start, name in _COMBINERS.items() if where.startswith(start)), None)
        if combiner is not None:
            return combiner
        frame = frame.f_back
    return None


def calling_search() -> Any:
    """The search for hyper-parameters that fits one of its candidates now; None if there is none in this process."""
    frame = currentframe()
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(HAND_ON):
        caller = frame.f_locals.get("self")
        if hasattr(caller, "param_grid") or hasattr(caller, "param_distributions"):
            return caller
        frame = frame.f_back
    return None
