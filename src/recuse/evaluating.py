"""A saved model on new cases with known outcomes: cost, coverage, errors and calibration, with intervals."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .arrays import Flags, Floats, Indices
from .class_evaluating import ClassEvaluation, OutcomeFigures, evaluate_classes
from .comparison.intervals import Interval, combined, frequent_mean, rare_mean
from .costs import Costs, answer_columns
from .decisions import KINDS, Decisions
from .labels import encode, preview, to_python
from .locating import decide_and_warn, locate
from .metrics import reliability_curve
from .persistence import load
from .tables import TableColumns, TableFile, as_frame, check_cases, read_with_writings
from .tables.cases import require_column
from .warning import warn_user

__all__ = ["CalibrationBin", "ClassEvaluation", "EvaluationResult", "OutcomeFigures", "evaluate_table"]

_LEAST = 1  # cases of each class
_MOST_BINS = 10
_PER_BIN = 20


@dataclass(frozen=True)
class CalibrationBin:
    """Cases of about the same probability.

    Attributes
    ----------
    predicted, observed, low, high : float
        Mean probability of the positive class; share of positive cases, with its limits.
    cases : int
        How many.
    """

    predicted: float
    observed: float
    low: float
    high: float
    cases: int


@dataclass(frozen=True)
class EvaluationResult:
    """How a model did on new cases.

    Attributes
    ----------
    cases, positives, set_aside : int
        Cases with an outcome, those of the positive class, and rows without an outcome.
    prices : dict
        Prices that the cost is counted by.
    cost : Interval
        Mean cost per case.
    review_all : float
        What the manual review of every case would cost, per case.
    never_reject : float
        What the same model would cost if it had to answer every case, per case.
    coverage : Interval
        Share of the cases that were answered.
    error : Interval or None
        Share of the answered cases that were answered wrongly; None if none was answered.
    misses, false_alarms, novelties : int
        Wrong answers of either kind, and cases unlike any seen.
    mean_probability : Interval or None
        Mean probability of the positive class beside `positives` / `cases`; None for models without probabilities.
    calibration : list of CalibrationBin
        Probabilities and how often they came true.
    calibration_error : float or None
        Mean distance between the two.

    Examples
    --------
    >>> import recuse
    >>> from recuse.evaluating import evaluate_table
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:300], "target", 0.1, method="logistic-chow", positive=1)
    >>> found = evaluate_table(model, table[300:], "target")
    >>> found.cases, found.cost.low <= found.cost.value <= found.cost.high
    (269, True)
    """

    cases: int
    positives: int
    set_aside: int
    prices: dict[str, float]
    cost: Interval
    review_all: float
    never_reject: float
    coverage: Interval
    error: Interval | None
    misses: int
    false_alarms: int
    novelties: int
    mean_probability: float | None
    calibration: list[CalibrationBin]
    calibration_error: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; an interval is an object of its estimate and limits."""
        facts = asdict(self)
        for name in ("cost", "coverage", "error"):
            facts[name] = None if facts[name] is None else getattr(self, name)._asdict()
        return facts

    def lines(self) -> Iterator[str]:
        """The figures for a terminal."""
        aside = f"; {self.set_aside:,} rows without an outcome set aside" if self.set_aside else ""
        yield f"{self.cases:,} cases, {self.positives:,} positive ({self.positives / self.cases:.1%}){aside}"
        yield (
            f"cost per case      {_shown(self.cost)}; manual review of every case {self.review_all:.4g}, "
            f"answering every case {self.never_reject:.4g}"
        )
        yield f"coverage           {_shown(self.coverage, percent=True)}"
        if self.error is None:
            yield "error if answered  no case was answered"
        else:
            yield (
                f"error if answered  {_shown(self.error, percent=True)}; {_counted_as(self.misses, 'miss', 'misses')}, "
                f"{_counted_as(self.false_alarms, 'false alarm', 'false alarms')}"
            )
        yield f"unlike any seen    {self.novelties:,}"
        if self.mean_probability is None:
            yield "calibration        the model has no probabilities"
            return
        yield (
            f"calibration        mean probability {self.mean_probability:.3f}, share of positives "
            f"{self.positives / self.cases:.3f}; off by {self.calibration_error:.3f} on average"
        )
        for part in self.calibration:
            sign = " " if part.low <= part.predicted <= part.high else "!"
            yield (
                f"  {sign} probability {part.predicted:.3f}: came true in {part.observed:.3f} ({part.low:.3f} to "
                f"{part.high:.3f}) of {part.cases:,}"
            )


def _shown(interval: Interval, percent: bool = False) -> str:
    if percent:
        return f"{interval.value:.1%} ({interval.low:.1%} to {interval.high:.1%})"
    return f"{interval.value:.4g} ({interval.low:.4g} to {interval.high:.4g})"


def _counted_as(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def evaluate_table(
    model: Any, data: Any, target: str, *, costs: Costs | None = None
) -> EvaluationResult | ClassEvaluation:
    """Count what a model costs on new cases whose outcomes are known.

    Parameters
    ----------
    model : estimator or path
        A fitted model, or the file that holds it.
    data : path-like, TableFile or DataFrame
        The table with the outcomes. Rows without one are set aside.
    target : str
        Column with the outcome, in the words of the table that the model was fitted on.
    costs : Costs, optional
        Prices; those of the model by default.

    Returns
    -------
    EvaluationResult or ClassEvaluation
        The second with three classes or more.

    Examples
    --------
    >>> import recuse
    >>> from recuse.evaluating import evaluate_table
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:300], "target", 0.1, method="logistic-chow", positive=1)
    >>> evaluate_table(model, table[300:], "target").coverage.value > 0.5
    True
    """
    model = load(model) if isinstance(model, str | os.PathLike) else model
    classifier, _ = locate(model)
    if len(classifier.classes_) > 2:
        return _evaluated_classes(model, data, target, costs)
    features, positive, set_aside = cases_with_outcomes(model, data, target)
    warn_of_training_cases(model, features, data)
    decisions, probability = decide_and_warn(model, features, reasons=False)
    prices = classifier.costs_ if costs is None else costs
    return _counted(decisions, positive, probability, prices, set_aside, classifier)


def _evaluated_classes(model: Any, data: Any, target: str, costs: Costs | None) -> ClassEvaluation:
    """The same with three classes or more."""
    classifier, _ = locate(model)
    frame, name = read_for(model, data)
    cases = check_cases(_of_model(model, frame, target, name), target, name=name, least=_LEAST, several=True)
    texts = [str(to_python(label)) for label in classifier.classes_]
    found = [str(to_python(label)) for label in cases.outcomes]
    if not set(found) <= set(texts):
        raise _other_outcomes(frame, target, classifier, name)
    prices = classifier.costs_ if costs is None else costs.for_classes(classifier.classes_)
    decisions, _ = decide_and_warn(model, cases.features, reasons=False)
    truth = encode(np.array(found), np.array(texts))
    calibrated = hasattr(classifier, "predict_proba")
    aside = len(frame) - len(truth)
    return evaluate_classes(decisions, truth, classifier.classes_, prices, aside, calibrated=calibrated)


def cases_with_outcomes(model: Any, data: Any, target: str) -> tuple[Any, Flags, int]:
    """The cases of a table with an outcome, which of them are positive, and how many have none."""
    frame, name = read_for(model, data)
    features, positive = _known_outcomes(_of_model(model, frame, target, name), target, locate(model)[0], name)
    return features, positive, len(frame) - len(positive)


def warn_of_training_cases(model: Any, features: Any, data: Any) -> None:
    """Warn of a table that holds cases the model was fitted on, as far as it remembers them."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, TableColumns) and (share := first.share_seen(first.transform(features))):
        name = "the table" if hasattr(data, "columns") else TableFile.of(data).name
        warn_user(
            f"{name} holds cases that the model was fitted on (about {share:.0%} of its training table): what it costs "
            "on these says nothing about new cases. Give cases that came later, or take the cost that `recuse compare` "
            "found, where every case was answered by models that had not seen it."
        )


def read_for(model: Any, data: Any) -> tuple[Any, str]:
    """A table as the model reads it, and its name."""
    if hasattr(data, "columns"):
        return as_frame(data), "table"
    source = TableFile.of(data)
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    text = first.text_columns if isinstance(first, TableColumns) else ()
    return as_frame(read_with_writings(source, text_columns=text)[0]), source.name


def _of_model(model: Any, frame: Any, target: str, name: str) -> Any:
    """The columns of the model and the outcome: what else is in a table does not matter."""
    require_column(frame, target, "to predict", name)
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if not isinstance(first, TableColumns):
        return frame
    return frame[[name for name in frame.columns if name in {*first.columns_, target}]]


def _known_outcomes(frame: Any, target: str, classifier: Any, name: str) -> tuple[Any, Flags]:
    """The cases with an outcome, and which of them are positive; a sentence if the outcomes are not the model's."""
    labels = [to_python(label) for label in classifier.classes_]
    wanted = to_python(classifier.pos_label_)
    cases = check_cases(frame, target, wanted, name=name, least=_LEAST)
    if not {str(to_python(label)) for label in np.unique(cases.outcomes)} <= {str(label) for label in labels}:
        raise _other_outcomes(frame, target, classifier, name)
    positive = np.array([str(to_python(label)) == str(wanted) for label in cases.outcomes])
    return cases.features, positive


def _other_outcomes(frame: Any, target: str, classifier: Any, name: str) -> ValueError:
    found = sorted({str(to_python(value)) for value in frame[target].dropna().unique()})
    return ValueError(
        f"{name}: the column {target!r} holds {preview(found)}, and the model was fitted with "
        f"{', '.join(repr(to_python(label)) for label in classifier.classes_)}: name the column with the same outcomes."
    )


def forced_positive(decisions: Decisions, classifier: Any) -> Indices:
    """1 where the class without the reject option is the positive one, else 0."""
    return (encode(decisions.forced, np.array([to_python(classifier.pos_label_)])) == 0).astype(np.intp)


def _counted(
    decisions: Decisions, positive: Flags, probabilities: Floats | None, costs: Costs, set_aside: int, classifier: Any
) -> EvaluationResult:
    """The figures of a batch of answers."""
    forced = forced_positive(decisions, classifier)
    kinds = encode(decisions.kind, np.array(KINDS))
    classes, accepted = positive.astype(np.intp), decisions.accepted
    paid = costs.prices(classes, answer_columns(forced, kinds))
    errors, reviews = np.where(accepted, paid, 0.0), np.where(accepted, 0.0, paid)
    largest = max(costs.reject_negative, costs.reject_positive, float(reviews.max(initial=0.0)))
    wrong = accepted & (forced != classes)
    calibration, off = _calibration(positive, probabilities)
    return EvaluationResult(
        cases=len(positive),
        positives=int(positive.sum()),
        set_aside=set_aside,
        prices={name: value for name, value in costs.as_dict().items() if value is not None},
        cost=combined(rare_mean(errors, max(costs.fp, costs.fn)), frequent_mean(reviews, largest)),
        review_all=float(np.where(positive, costs.reject_positive, costs.reject_negative).mean()),
        never_reject=float(costs.prices(classes, forced).mean()),
        coverage=frequent_mean(accepted.astype(np.float64), 1.0),
        error=frequent_mean(wrong[accepted].astype(np.float64), 1.0) if accepted.any() else None,
        misses=int((wrong & positive).sum()),
        false_alarms=int((wrong & ~positive).sum()),
        novelties=int((decisions.kind == "novelty").sum()),
        mean_probability=None if probabilities is None else float(probabilities.mean()),
        calibration=calibration,
        calibration_error=off,
    )


def _calibration(positive: Flags, probabilities: Floats | None) -> tuple[list[CalibrationBin], float | None]:
    if probabilities is None:
        return [], None
    bins = int(np.clip(len(positive) // _PER_BIN, 1, _MOST_BINS))
    curve = reliability_curve(positive.astype(int), probabilities, n_bins=bins, pos_label=1)
    rows = zip(curve.predicted, curve.observed, curve.low, curve.high, curve.counts, strict=True)
    bins_found = [CalibrationBin(float(p), float(o), float(low), float(high), int(n)) for p, o, low, high, n in rows]
    return bins_found, float(curve.error)
