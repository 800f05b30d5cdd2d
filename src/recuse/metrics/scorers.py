"""Scorers for grid searches and cross-validation.

A scorer asks the fitted estimator itself for its decisions, through a Pipeline or a search, so it knows which
answers are rejections. Larger is better: costs and risks have their sign changed and ``neg_`` in their name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..decisions import Decisions, decide, locate
from . import curves, ranking, rejection


@dataclass(frozen=True)
class RejectScorer:
    """Score a fitted reject-option classifier by a metric of its decisions.

    Attributes
    ----------
    name : str
        Name in `get_scorer_names`, or of your own.
    measure : callable
        ``measure(y_true, decisions, **options)``, with `sample_weight` among the options.
    sign : int
        1 when larger is better, -1 when smaller is.
    priced : bool
        Whether the metric takes `costs` and `pos_label`; unless given, those of the estimator are used.
    options : dict
        Further arguments of the metric.

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
    priced: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the decisions of `estimator` on `X`."""
        options = dict(self.options)
        if self.priced:
            classifier, _ = locate(estimator)
            options = {"costs": classifier.costs_, "pos_label": _binary_pos_label(classifier)} | options
        decisions = decide(estimator, X, reasons=False)
        return self.sign * self.measure(y, decisions, sample_weight=sample_weight, **options)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({self.name!r}{options})"


def _binary_pos_label(classifier: Any) -> Any:
    return classifier.pos_label_ if len(classifier.classes_) == 2 else None


def _ranking_measure(metric: Callable[..., float], y_true: Any, decisions: Decisions, **options: Any) -> float:
    """Apply a metric of a score to h, which points towards the second class."""
    return metric(y_true, decisions.h, pos_label=decisions.classes[1], **options)


_KS = partial(_ranking_measure, ranking.ks_score)
_PRECISION_AT_K = partial(_ranking_measure, ranking.precision_at_k_score)

SCORERS = {
    scorer.name: scorer
    for scorer in (
        RejectScorer("neg_expected_cost", rejection.expected_cost, -1, priced=True),
        RejectScorer("coverage", rejection.coverage_score),
        RejectScorer("neg_rejection_rate", rejection.rejection_rate, -1),
        # A model that rejects everything answers nothing right: it must not win a search.
        RejectScorer("selective_accuracy", rejection.selective_accuracy_score, options={"all_rejected": 0.0}),
        RejectScorer("neg_aurc", curves.aurc_score, -1),
        RejectScorer("neg_eaurc", curves.eaurc_score, -1),
        RejectScorer("neg_augrc", curves.augrc_score, -1),
        RejectScorer("neg_risk_at_coverage", curves.risk_at_coverage, -1),
        RejectScorer("coverage_at_risk", curves.coverage_at_risk),
        RejectScorer("ks", _KS),
        RejectScorer("precision_at_k", _PRECISION_AT_K, options={"k": 10}),
    )
}


def get_scorer(name: str, **options: Any) -> RejectScorer:
    """Return a scorer by name, with options of its metric: ``get_scorer("neg_expected_cost", costs=0.1)``.

    Parameters
    ----------
    name : str
        One of `get_scorer_names()`.
    **options
        Arguments of the metric, such as ``costs=``, ``coverage=``, ``risk=`` or ``k=``.

    Returns
    -------
    RejectScorer
        To be passed as ``scoring=`` to anything of scikit-learn.
    """
    if name not in SCORERS:
        raise ValueError(f"scoring must be one of {', '.join(map(repr, SCORERS))}; got {name!r}.")
    found = SCORERS[name]
    return RejectScorer(found.name, found.measure, found.sign, found.priced, found.options | options)


def get_scorer_names() -> list[str]:
    """Return the names that `get_scorer` knows."""
    return sorted(SCORERS)
