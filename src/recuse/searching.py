"""Searches over prices: each candidate would be judged at prices of its own, and the cheapest rejections would win.

`score`, like a scorer without prices, measures a model at the prices of that model. A candidate does not know that it
is one, so a fit looks at who called it. Whatever its `n_jobs`, a search fits its best candidate in the user's process;
only one that has ``refit=False`` and all its fits in other processes is not seen. What a scorer of the user's own looks
at is not known, and `validation_curve` chooses nothing: neither gives a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from sklearn.pipeline import Pipeline

from .callers import HAND_ON, calling_search
from .locating import has_reject_option
from .warning import warn_user

# The searches that have warned, by their address and the subject: a search need not be hashable.
_WARNED: WeakValueDictionary[tuple[int, str], Any] = WeakValueDictionary()


def warn_of_searched_prices() -> None:
    """Warn if the fit that is going on belongs to a search that compares models at different prices."""
    search = calling_search()
    if search is not None and _judges_at_own_prices(search) and _varies_prices(search):
        warn_once_in_search(
            "prices",
            f"{type(search).__name__} varies costs and judges every model at its own prices, so that the cheapest "
            "rejections win: pass scoring=get_scorer('neg_expected_cost', costs=...), with the prices that hold.",
        )


def warn_once_in_search(subject: str, message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line, but in a search of many candidates and folds once only about each subject."""
    search = calling_search()
    if search is not None:
        if (id(search), subject) in _WARNED:
            return
        _WARNED[id(search), subject] = search
    warn_user(message, category, past=HAND_ON)


def _judges_at_own_prices(search: Any) -> bool:
    """Whether the score that a search chooses by depends on the prices of each model."""
    scoring = search.scoring
    if isinstance(scoring, Mapping):
        scoring = scoring.get(search.refit) if isinstance(search.refit, str) else tuple(scoring.values())
    scorers = scoring if isinstance(scoring, tuple) else (scoring,)
    return any(scorer is None or getattr(scorer, "at_own_prices", False) for scorer in scorers)


def _varies_prices(search: Any) -> bool:
    """Whether the candidates of a search differ in the prices of the classifier that is judged."""
    prefix, classifier = "", search.estimator
    while isinstance(classifier, Pipeline):
        step, classifier = classifier.steps[-1]
        prefix += f"{step}__"
    if not has_reject_option(classifier):
        return False
    space = getattr(search, "param_grid", None) or getattr(search, "param_distributions", None)
    parts = space if isinstance(space, list | tuple) else [space]
    # A search of the user's own may describe its candidates in another way: then nothing is known about them.
    tried = [
        part.get(f"{prefix}costs", [getattr(classifier, "costs", None)]) for part in parts if isinstance(part, Mapping)
    ]
    # What is no list is a distribution.
    return any(hasattr(values, "rvs") for values in tried) or len({repr(price) for v in tried for price in v}) > 1
