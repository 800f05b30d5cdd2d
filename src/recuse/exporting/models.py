"""From a fitted model to the program of its whole decision: one function per kind of model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from ..boosting import AbstentionBoostingClassifier, ExactBoostClassifier
from ..boosting.abstention.pairs import ChowPair, LearnedPair
from ..boosting.shapes import AdditiveForm
from ..explaining.linear import coefficients
from ..explaining.models import inside
from ..guarantees import GuaranteedRejectClassifier
from ..labels import preview, to_python
from ..locating import steps_before, trace
from ..rounding import SAME
from ..tables import TableColumns
from ..thresholds import ThresholdRejectClassifier
from ..thresholds.bands import Band
from .features import CannotExportError, Feature, is_as_read
from .preparation import follow, names_out, read_columns, read_table, without_unread
from .program import DATE, NUMBER, DecisionProgram, Expr, If, Label, Leading, Missing, Number, Ref, Text, call
from .scores import (
    FARTHEST,
    Amounts,
    additive_scores,
    calibrated,
    expit,
    has_log_odds,
    linear_score,
    log_odds,
    take_categories,
)

_DAY = 86400.0
_REMEDY = " Or fit 'abstention-boosting' or 'logistic-chow' (recuse.fit(..., method=...)), which can be exported."


def as_program(estimator: Any, *, reasons: bool = True) -> DecisionProgram:
    """The whole decision of a fitted model as a program; an error that says why, and names a model that can be."""
    promised, _, _ = trace(estimator)
    steps = steps_before(estimator)
    promise = _Promise.of(promised, inside=bool(steps))
    classifier = promised
    if promise is not None:
        classifier, steps = promised.classifier_, steps + steps_before(promised._model)
    _require_two_classes(classifier)
    program = DecisionProgram(reject_label=to_python(classifier.reject_label_))
    try:
        features = _features(program, classifier, steps)
        h, r, amounts = _scores_of(program, classifier, features)
    except CannotExportError as error:
        raise CannotExportError(f"{type(classifier).__name__}: {error}{_remedy(classifier, steps)}") from None
    columns = steps[0] if steps and isinstance(steps[0], TableColumns) else None
    _decide(program, classifier, (h, r), amounts if reasons else None, columns, promise)
    guarantee = getattr(promised, "guarantee_", None)
    if guarantee is not None:
        program.notes.append(f"What was promised of the model: {guarantee}")
    return program


def _require_two_classes(classifier: Any) -> None:
    """Refuse a model of three classes or more, of whatever kind."""
    classes = [to_python(label) for label in classifier.classes_]
    if len(classes) > 2:
        raise CannotExportError(
            f"{type(classifier).__name__}: only two classes can be exported; the model has {preview(classes)}. Fit one "
            f"of them against the rest (recuse fit --positive {shlex.quote(str(classes[-1]))} --method logistic-chow; "
            "in Python, positive= and method=), or answer with Python: recuse predict, recuse.score_batch."
        )


def _remedy(classifier: Any, steps: Sequence[Any]) -> str:
    """Methods that can be exported; nothing where the model is one of them, and something else is refused."""
    known = isinstance(classifier, AbstentionBoostingClassifier) or _is_linear(classifier)
    return "" if known and steps and isinstance(steps[0], TableColumns) else _REMEDY


def _is_linear(classifier: Any) -> bool:
    """Whether these are thresholds on a linear model."""
    if not isinstance(classifier, ThresholdRejectClassifier):
        return False
    inner = inside(classifier.estimator_)
    while isinstance(inner, Pipeline):
        inner = inside(inner.steps[-1][1])
    return coefficients(inner) is not None


@dataclass(frozen=True)
class _Promise:
    """What a promise asks of the acceptance score of the model that it stands around.

    Attributes
    ----------
    threshold : float
        Cases above it are accepted; infinite where nothing is promised.
    inside : bool
        Whether it stands behind the reading of the table: novelties are then found after it.
    """

    threshold: float
    inside: bool

    @classmethod
    def of(cls, classifier: Any, *, inside: bool) -> _Promise | None:
        """That of a classifier; None for one that promises nothing beyond its own thresholds."""
        known = isinstance(classifier, GuaranteedRejectClassifier)
        return cls(float(classifier.threshold_), inside) if known else None

    def raised(self, program: DecisionProgram, r: Ref) -> Ref:
        """The acceptance score when only cases above the threshold are accepted."""
        if np.isinf(self.threshold):
            return program.let(If(r > 0.0, _never(call("max", r, 0.0)), call("min", r, 0.0) - 1.0))
        if self.threshold == 0.0:
            return r
        return program.let(_onto(r, self.threshold, abs(self.threshold)) - self.threshold)


def _features(program: DecisionProgram, classifier: Any, steps: list[Any]) -> list[Feature]:
    """What the classifier is given, from the columns of the table on."""
    first: Any = steps[0] if steps else classifier
    if isinstance(first, TableColumns):
        features, names, steps = read_table(program, first), list(first.columns_), steps[1:]
    else:
        known = getattr(first, "feature_names_in_", None)
        n = getattr(first, "n_features_in_", None)
        if n is None and known is None:
            raise CannotExportError(f"{type(first).__name__} does not say how many columns it was fitted with.")
        names = [f"x{i}" for i in range(int(n))] if known is None else [str(name) for name in known]  # type: ignore[arg-type]
        features = read_columns(program, names, [NUMBER] * len(names))
    return _follow_all(program, steps, features, names)


def _follow_all(
    program: DecisionProgram, steps: Sequence[Any], features: list[Feature], names: list[Any]
) -> list[Feature]:
    """What steps one after the other make of features."""
    for step in steps:
        untouched = len(features) == len(program.columns) and all(map(is_as_read, features))
        features = follow(program, step, features, names)
        names = names_out(step, names, len(features))
        if untouched and isinstance(step, ColumnTransformer) and hasattr(step, "feature_names_in_"):
            features = without_unread(program, features)  # of a frame it neither needs nor checks the others
    return features


def _scores_of(program: DecisionProgram, classifier: Any, features: list[Feature]) -> tuple[Ref, Ref, Amounts]:
    """The expressions of h and r of a reject-option classifier."""
    for kind, scores in _KINDS:
        if isinstance(classifier, kind):
            return scores(program, classifier, features)
    raise CannotExportError("only sums over columns, and linear models with thresholds, can be written down.")


def _of_abstention(
    program: DecisionProgram, model: AbstentionBoostingClassifier, features: Sequence[Feature]
) -> tuple[Ref, Ref, Amounts]:
    pair = model._pair
    if not isinstance(pair, ChowPair | LearnedPair) or not isinstance(pair.form, AdditiveForm):
        raise CannotExportError("trees and stacked scores cannot be exported: use max_depth=1 and stack=None.")
    take_categories(program, model.categories_, features)
    h, r, amounts = additive_scores(program, pair.form, features, with_r=isinstance(pair, LearnedPair))
    if isinstance(pair, ChowPair):
        return program.let(h - pair.boundary), program.let(call("abs", h) - pair.level), amounts
    assert r is not None
    boundary = _boundary(program, pair, r)
    return program.let(h - boundary), program.let(r - pair.threshold), amounts


def _boundary(program: DecisionProgram, pair: LearnedPair, r: Ref) -> Expr:
    """The score h at which both classes cost the same: see `forced_boundary` of the surrogates."""
    surrogate, odds = pair.surrogate, float(np.exp(pair.log_odds))
    if pair.log_odds == 0.0:
        return Number(0.0)
    if surrogate.p != 1.0:
        raise CannotExportError("surrogate='max' at unequal prices cannot be exported: use surrogate='sum'.")
    if surrogate.loss == "exponential":
        return Number(pair.log_odds / 2)
    at: Expr = Number(0.0) if pair.fixed_boundary else call("max", call("min", r, 0.0), -FARTHEST)
    half = program.let((1.0 - odds) * call("exp", at) / 2.0)
    return call("log", call("sqrt", half * half + odds) - half)


def _of_exactboost(
    program: DecisionProgram, model: ExactBoostClassifier, features: Sequence[Feature]
) -> tuple[Ref, Ref, Amounts]:
    if model._span is not None:
        raise CannotExportError("a model fitted with init_score needs another model's scores: fit without.")
    take_categories(program, model.categories_, features)
    h, _, amounts = additive_scores(program, model._form, features, with_r=False)
    low, high = model.thresholds_
    if low == high:
        return h, program.let(Number(1.0)), amounts
    below, above = low - model.threshold_, high - model.threshold_
    score = program.let(h * float(model._sign))
    sides = [side for side, edge in ((score - above, above), (below - score, below)) if np.isfinite(edge)]
    if not sides:
        raise CannotExportError("this model rejects every case, whatever it is: raise the reject price.")
    return h, program.let(call("max", *sides) if len(sides) == 2 else sides[0]), amounts


def _of_threshold(
    program: DecisionProgram, model: ThresholdRejectClassifier, features: list[Feature]
) -> tuple[Ref, Ref, Amounts]:
    if hasattr(model, "novelty_"):
        raise CannotExportError("an outlier detector cannot be exported: fit without novelty=.")
    band = model._region
    assert isinstance(band, Band)  # more than two classes were refused
    score, amounts = _inner_score(program, model, features)
    models = model._models
    if models.calibrator is not None:
        line = program.let(log_odds(program, score)) if models.response == "predict_proba" else score
        score = program.let(calibrated(program, models.calibrator, line))
    return *_banded(program, score, band), amounts


def _inner_score(
    program: DecisionProgram, model: ThresholdRejectClassifier, features: list[Feature]
) -> tuple[Ref, Amounts]:
    """The score of the classifier that thresholds are placed on."""
    inner, names = inside(model.estimator_), list(getattr(model, "feature_names_in_", range(len(features))))
    while isinstance(inner, Pipeline):
        features = _follow_all(program, [step for _, step in inner.steps[:-1]], features, names)
        inner = inside(inner.steps[-1][1])
    probabilities = model._models.response == "predict_proba"
    if isinstance(inner, AbstentionBoostingClassifier) and isinstance(inner._pair, ChowPair) and probabilities:
        h, _, amounts = _of_abstention(program, inner, features)
        shift = inner._pair.boundary - inner._weighed_log_odds()
        return program.let(expit(program, h + shift)), amounts
    if isinstance(inner, AbstentionBoostingClassifier | ExactBoostClassifier):
        h, _, amounts = _scores_of(program, inner, features)
        return h, amounts
    if coefficients(inner) is None or (probabilities and not has_log_odds(inner)):
        raise CannotExportError(f"{type(inner).__name__} has no score that can be written down.")
    mean = None if model._typical is None else model._typical.mean
    z, amounts = linear_score(program, inner, features, mean)
    _require_complete(program, features)
    return (program.let(expit(program, z)) if probabilities else z), amounts


def _require_complete(program: DecisionProgram, features: Sequence[Feature]) -> None:
    """A linear model refuses missing values that nothing fills in."""
    for feature in features:
        column = getattr(feature, "column", None)
        if column is not None and feature.may_be_missing:
            program.columns[column] = replace(program.columns[column], required=True)


def _banded(program: DecisionProgram, score: Ref, band: Band) -> tuple[Ref, Ref]:
    """H and r of thresholds on a score; one within rounding of a threshold is on it."""
    finite = [float(cut) for cut in band.cuts if np.isfinite(cut)]
    size = max(map(abs, finite), default=0.0) or 1.0
    for cut in dict.fromkeys(finite):
        score = program.let(_onto(score, cut, size))
    h = program.let(score - band.centre)
    above = (score - band.upper) / band.right if np.isfinite(band.upper) else _never(h / band.right)
    below = (band.lower - score) / band.left if np.isfinite(band.lower) else _never((0.0 - h) / band.left)
    return h, program.let(If(h > 0.0, above, below))


def _onto(score: Ref, threshold: float, size: float) -> Expr:
    """The score, moved onto a threshold that it is within rounding of: see `recuse.rounding.on_threshold`."""
    return If(call("abs", score - threshold) <= SAME * size, Number(threshold), score)


def _never(confidence: Expr) -> Expr:
    """A side that is never accepted: a negative number that grows with the confidence."""
    return 0.0 - 1.0 / (1.0 + confidence)


def _decide(
    program: DecisionProgram,
    classifier: Any,
    scores: tuple[Ref, Ref],
    amounts: Amounts | None,
    columns: TableColumns | None,
    promise: _Promise | None,
) -> None:
    """From scores to what is answered."""
    h, r = scores
    no, yes = (Label(to_python(label)) for label in classifier._labels.outputs[:2])
    forced = If(h > 0.0, yes, no)
    if promise is not None and promise.inside:
        r = promise.raised(program, r)
    distances = {} if columns is None else _distances(program, columns)
    far = None
    if distances:
        far = program.let(call("max", *distances.values()) if len(distances) > 1 else next(iter(distances.values())))
        r = program.let(If(far > 1.0, call("min", r, 0.0 - far), r))
    if promise is not None and not promise.inside:
        r = promise.raised(program, r)
    why: Expr = Text("") if amounts is None else _leading(program, h, r, amounts)
    kind: Expr = Text("ambiguity")
    if far is not None:
        kind = If(far > 1.0, Text("novelty"), kind)
        if amounts is not None:
            why = If(far > 1.0, Leading(far, tuple(distances), tuple(distances.values())), why)
    program.outputs = {
        "answer": If(r > 0.0, forced, Label(program.reject_label)),
        "forced": forced,
        "accepted": r > 0.0,
        "kind": If(r > 0.0, Text("accept"), kind),
        "h": h,
        "r": r,
        "reason": why,
    }


def _leading(program: DecisionProgram, h: Ref, r: Ref, amounts: Amounts) -> Expr:
    """The column that speaks most for the answer or, of a rejected case, that makes it hard."""
    if not amounts.names:
        return Text("")
    side = program.let(If(h > 0.0, Number(1.0), Number(-1.0)))
    of_h = [program.let(amount) for amount in amounts.h]
    harder = [call("abs", amount) for amount in of_h] if amounts.r is None else [0.0 - amount for amount in amounts.r]
    leading = tuple(program.let(If(r > 0.0, a * side, b)) for a, b in zip(of_h, harder, strict=True))
    largest = program.let(call("max", *leading) if len(leading) > 1 else leading[0] + 0.0)
    return Leading(largest, amounts.names, leading)


def _distances(program: DecisionProgram, columns: TableColumns) -> dict[str, Expr]:
    """How far each number lies outside the training range, in lengths of it; 0 for less than half of one."""
    found: dict[str, Expr] = {}
    for name, (low, high, length) in columns.limits().items():
        i = columns.columns_.index(name)
        x = program.column(i)
        value = x / _DAY if program.columns[i].kind == DATE else x
        outside = program.let(If(Missing(x), Number(0.0), call("max", low - value, value - high)))
        # Near cases count as 0: a tiny distance over a length is less than any number, for which PostgreSQL would stop.
        found[name] = program.let(If(outside > length / 2, outside / length, Number(0.0)))
    return found


_KINDS: tuple[tuple[Any, Any], ...] = (
    (AbstentionBoostingClassifier, _of_abstention),
    (ExactBoostClassifier, _of_exactboost),
    (ThresholdRejectClassifier, _of_threshold),
)
