"""Scorers for grid searches and cross-validation.

A scorer asks the fitted estimator itself for its decisions, through a Pipeline or a search, so it knows which answers
are rejections. Ranking metrics need no reject option: they score any classifier. Larger is always better, so costs and
risks are negated and have ``neg_`` in their names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_is_fitted

from ..decisions import Decisions
from ..labels import preview
from ..locating import decide, stated_pos_label
from . import curves, ranking, rejection


@dataclass(frozen=True)
class RejectScorer:
    """Score a fitted reject-option classifier by a metric of its decisions.

    Attributes
    ----------
    name : str
        One of `get_scorer_names`, or a name of your own.
    measure : callable
        ``measure(y_true, decisions, sample_weight=None, **options)``. The decisions include the prices and the positive
        class of the classifier.
    sign : int
        1 if larger is better, -1 if smaller is.
    options : dict
        Further arguments of the metric.
    weight_request : bool, str or None
        Whether `sample_weight` is requested, under metadata routing; see `set_score_request`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import ThresholdRejectClassifier
    >>> from recuse.metrics import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=0.1))
    >>> search = GridSearchCV(
    ...     model,
    ...     {"thresholdrejectclassifier__rule": ["chow", "tuned", "symmetric"]},
    ...     scoring=get_scorer("neg_expected_cost"),
    ... ).fit(X, y)
    >>> round(float(search.best_score_), 3)
    -0.02
    """

    name: str
    measure: Callable[..., float]
    sign: int = 1
    options: dict[str, Any] = field(default_factory=dict, hash=False)  # may hold lists, which have no hash
    weight_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the decisions of `estimator` on `X`."""
        decisions = decide(estimator, X, reasons=False)
        return self.sign * self.measure(y, decisions, sample_weight=sample_weight, **self.options)

    @property
    def at_own_prices(self) -> bool:
        """Whether every model is judged at its own prices: a search over `costs` by it would mean nothing."""
        return self.measure is rejection.expected_cost and self.options.get("costs") is None

    def set_score_request(self, *, sample_weight: bool | str | None = True) -> RejectScorer:
        """Return the scorer with weights requested under metadata routing (True, or the name they are passed under)."""
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> Any:
        """Say what scikit-learn's metadata routing should pass on."""
        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="sample_weight", alias=self.weight_request)
        return requests

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({self.name!r}{options})"


@dataclass(frozen=True, repr=False)
class RankingScorer(RejectScorer):
    """Score any fitted classifier, with or without a reject option, by how well its score ranks the cases.

    Attributes are those of `RejectScorer`; ``measure(y_true, score, pos_label=, sample_weight=None, **options)``. The
    score is `decision_function`, else `predict_proba`, with its sign such that higher means the positive class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from recuse.metrics import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> get_scorer("precision_at_k", k=50)(GaussianNB().fit(X, y), X, y)
    1.0
    """

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the ranking of `X` by `estimator`."""
        options = dict(self.options)
        score, pos_label = _positive_score(options.pop("pos_label", None), estimator, X)
        return self.sign * self.measure(y, score, pos_label=pos_label, sample_weight=sample_weight, **options)


def _positive_score(pos_label: Any, estimator: Any, X: Any) -> tuple[Any, Any]:
    """The score of the positive class, and that class."""
    check_is_fitted(estimator)
    method = next((name for name in ("decision_function", "predict_proba") if hasattr(estimator, name)), None)
    if method is None or not hasattr(estimator, "classes_"):
        name = type(estimator).__name__
        raise TypeError(f"A ranking metric needs decision_function or predict_proba of a classifier; {name} has none.")
    classes = estimator.classes_
    if len(classes) != 2:
        raise ValueError(f"A ranking metric needs two classes; the classifier has {preview(classes)}.")
    score = np.asarray(getattr(estimator, method)(X))
    score = score[:, 1] if score.ndim == 2 else score
    pos_label = stated_pos_label(estimator) if pos_label is None else pos_label
    pos_label = classes[1] if pos_label is None else pos_label
    return (-score if pos_label == classes[0] else score), pos_label


def _selective_accuracy(y_true: Any, decisions: Decisions, *, sample_weight: Any = None) -> float:
    # A model that rejects everything must not win a search: it counts as never right.
    return rejection.selective_accuracy_score(y_true, decisions, sample_weight=sample_weight, all_rejected=0.0)


SCORERS = {
    scorer.name: scorer
    for scorer in (
        RejectScorer("neg_expected_cost", rejection.expected_cost, -1),
        RejectScorer("coverage", rejection.coverage_score),
        RejectScorer("neg_rejection_rate", rejection.rejection_rate, -1),
        RejectScorer("selective_accuracy", _selective_accuracy),
        RejectScorer("neg_aurc", curves.aurc_score, -1),
        RejectScorer("neg_eaurc", curves.eaurc_score, -1),
        RejectScorer("neg_augrc", curves.augrc_score, -1),
        RejectScorer("neg_risk_at_coverage", curves.risk_at_coverage, -1),
        RejectScorer("coverage_at_risk", curves.coverage_at_risk),
        RankingScorer("ks", ranking.ks_score),
        RankingScorer("precision_at_k", ranking.precision_at_k_score),
    )
}


# Arguments of a metric that the scorer fills in itself.
_FILLED_IN = {"y_true", "y_pred", "y_score", "decisions", "sample_weight"}


def get_scorer(name: str, **options: Any) -> RejectScorer:
    """Return a scorer by name, with options of its metric: ``get_scorer("neg_expected_cost", costs=0.1)``.

    Parameters
    ----------
    name : str
        One of `get_scorer_names()`.
    **options
        Arguments of the metric, such as ``costs=``, ``pos_label=``, ``coverage=``, ``risk=`` or ``k=`` (which
        "precision_at_k" needs). Prices and positive class are those of the classifier by default.

    Returns
    -------
    RejectScorer
        For ``scoring=`` of any scikit-learn tool.

    Examples
    --------
    >>> from recuse.metrics import get_scorer
    >>> get_scorer("neg_risk_at_coverage", coverage=0.8)
    get_scorer('neg_risk_at_coverage', coverage=0.8)
    """
    if name not in SCORERS:
        raise ValueError(f"name must be one of {', '.join(map(repr, SCORERS))}; got {name!r}.")
    parameters = signature(SCORERS[name].measure).parameters
    known = {option: parameters[option] for option in sorted(set(parameters) - _FILLED_IN)}
    unknown = set(options) - set(known)
    if unknown:
        raise TypeError(f"{name} takes {', '.join(known) or 'no options'}; got {', '.join(sorted(unknown))}.")
    needed = [option for option, about in known.items() if about.default is about.empty and option not in options]
    if needed:
        raise TypeError(f"{name} needs {needed[0]}=: get_scorer({name!r}, {needed[0]}=...).")
    return replace(SCORERS[name], options=options)


def get_scorer_names() -> list[str]:
    """Return the names that `get_scorer` knows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from recuse.metrics import get_scorer_names
    >>> "neg_expected_cost" in get_scorer_names()
    True
    """
    return sorted(SCORERS)
