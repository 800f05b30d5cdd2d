"""Scorers for grid searches and cross-validation.

A scorer asks the fitted estimator itself for its decisions, through a Pipeline or a search, so it knows which
answers are rejections. Larger is better: costs and risks have their sign changed and ``neg_`` in their name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from ..checks import check_weights
from ..decisions import Decisions, decide
from ..labels import some
from . import curves, ranking, rejection


@dataclass(frozen=True)
class RejectScorer:
    """Score a fitted reject-option classifier by a metric of its decisions.

    Attributes
    ----------
    name : str
        Name in `get_scorer_names`, or of your own.
    measure : callable
        ``measure(y_true, decisions, sample_weight=None, **options)``. The decisions bring the prices and the positive
        class of the classifier along.
    sign : int
        1 when larger is better, -1 when smaller is.
    options : dict
        Further arguments of the metric.
    weight_request : bool, str or None
        Whether `sample_weight` is wanted, under metadata routing; see `set_score_request`.

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
    -0.019
    """

    name: str
    measure: Callable[..., float]
    sign: int = 1
    options: dict[str, Any] = field(default_factory=dict)
    weight_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the decisions of `estimator` on `X`."""
        decisions = decide(estimator, X, reasons=False)
        return self.sign * self.measure(y, decisions, sample_weight=sample_weight, **self.options)

    def set_score_request(self, *, sample_weight: bool | str | None = True) -> RejectScorer:
        """Return the scorer with weights requested (True, or the name they have) under metadata routing."""
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> Any:
        """Say what scikit-learn's metadata routing should pass on."""
        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="sample_weight", alias=self.weight_request)
        return requests

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({self.name!r}{options})"


def _ks(y_true: Any, decisions: Decisions, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    score, pos_label = _score_towards(decisions, pos_label)
    return ranking.ks_score(y_true, score, pos_label=pos_label, sample_weight=sample_weight)


def _precision_at_k(
    y_true: Any, decisions: Decisions, *, k: float | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Precision at k, by default at a tenth of the cases."""
    score, pos_label = _score_towards(decisions, pos_label)
    k = max(1.0, check_weights(sample_weight, len(score)).sum() / 10) if k is None else k
    return ranking.precision_at_k_score(y_true, score, k=k, pos_label=pos_label, sample_weight=sample_weight)


def _selective_accuracy(y_true: Any, decisions: Decisions, *, sample_weight: Any = None) -> float:
    # A model that rejects everything answers nothing right: it must not win a search.
    return rejection.selective_accuracy_score(y_true, decisions, sample_weight=sample_weight, all_rejected=0.0)


def _score_towards(decisions: Decisions, pos_label: Any) -> tuple[Any, Any]:
    """The class score, turned towards the positive class."""
    if len(decisions.classes) != 2:
        raise ValueError(f"A ranking metric needs two classes; the classifier has {some(decisions.classes)}.")
    pos_label = decisions.pos_label if pos_label is None else pos_label
    return (-decisions.h if pos_label == decisions.classes[0] else decisions.h), pos_label


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
        RejectScorer("ks", _ks),
        RejectScorer("precision_at_k", _precision_at_k),
    )
}


def get_scorer(name: str, **options: Any) -> RejectScorer:
    """Return a scorer by name, with options of its metric: ``get_scorer("neg_expected_cost", costs=0.1)``.

    Parameters
    ----------
    name : str
        One of `get_scorer_names()`.
    **options
        Arguments of the metric, such as ``costs=``, ``pos_label=``, ``coverage=``, ``risk=`` or ``k=``. Prices and
        positive class are those of the classifier unless given.

    Returns
    -------
    RejectScorer
        To be passed as ``scoring=`` to anything of scikit-learn.
    """
    if name not in SCORERS:
        raise ValueError(f"name must be one of {', '.join(map(repr, SCORERS))}; got {name!r}.")
    known = set(signature(SCORERS[name].measure).parameters) - {"y_true", "y_pred", "decisions", "sample_weight"}
    unknown = set(options) - known
    if unknown:
        raise TypeError(f"{name} takes {', '.join(sorted(known)) or 'no options'}; got {', '.join(sorted(unknown))}.")
    return replace(SCORERS[name], options=options)


def get_scorer_names() -> list[str]:
    """Return the names that `get_scorer` knows."""
    return sorted(SCORERS)
