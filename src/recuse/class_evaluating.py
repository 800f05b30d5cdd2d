"""A model for three classes or more on new cases with known outcomes: cost, coverage, errors by class, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .arrays import Floats, Indices
from .comparison.intervals import Interval, combined, frequent_mean, rare_mean
from .costs import Costs, answer_columns
from .decisions import KINDS, Decisions
from .labels import encode, to_python
from .metrics import Reliability, reliability_curve
from .report.class_points import count_class_answers

_MOST_BINS = 10
_PER_BIN = 20


@dataclass(frozen=True)
class OutcomeFigures:
    """What happened to the cases of one outcome.

    Attributes
    ----------
    outcome : object
        The outcome.
    cases, answered, wrong : int
        How many there are, how many of them were answered, and how many of these wrongly.
    cost : float
        Mean cost per case.

    Examples
    --------
    >>> from recuse.evaluating import OutcomeFigures
    >>> figures = OutcomeFigures("legal", cases=40, answered=30, wrong=2, cost=0.41)
    >>> figures.wrong / figures.answered < 0.1
    True
    """

    outcome: Any
    cases: int
    answered: int
    wrong: int
    cost: float


@dataclass(frozen=True)
class ClassEvaluation:
    """How a model for three classes or more did on new cases.

    Attributes
    ----------
    cases, set_aside : int
        Cases with an outcome, and rows without one.
    prices : dict
        Prices that the cost is counted by.
    cost : Interval
        Mean cost per case.
    review_all, never_reject : float
        What the manual review of every case would cost, per case, and the same model if it had to answer every case.
    coverage : Interval
        Share of the cases that were answered.
    error : Interval or None
        Share of the answered cases that were answered wrongly; None if none was answered.
    novelties : int
        Cases unlike any seen.
    outcomes : list of OutcomeFigures
        The same by outcome.
    matrix : list of lists
        Cases by outcome and answer: each class, then rejected as ambiguous, and as a novelty.
    mean_probability, share_right : float or None
        Mean probability of the class that would be answered, and how often it was right, rejected cases included; None
        for models without probabilities.
    calibration_error : float or None
        Mean distance between the two in bins of that probability.

    Examples
    --------
    >>> import recuse
    >>> from recuse.evaluating import evaluate_table
    >>> from sklearn.datasets import load_iris
    >>> table = load_iris(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> model = recuse.fit(table[:100], "target", 0.1, method="logistic-chow")
    >>> found = evaluate_table(model, table[100:], "target")
    >>> found.cases, [item.cases for item in found.outcomes]
    (50, [19, 17, 14])
    """

    cases: int
    set_aside: int
    prices: dict[str, Any]
    cost: Interval
    review_all: float
    never_reject: float
    coverage: Interval
    error: Interval | None
    novelties: int
    outcomes: list[OutcomeFigures]
    matrix: list[list[float]]
    mean_probability: float | None
    share_right: float | None
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
        yield f"{self.cases:,} cases of {len(self.outcomes)} outcomes{aside}"
        yield (
            f"cost per case      {_shown(self.cost)}; manual review of every case {self.review_all:.4g}, "
            f"answering every case {self.never_reject:.4g}"
        )
        yield f"coverage           {_percent(self.coverage)}"
        yield f"error if answered  {'no case was answered' if self.error is None else _percent(self.error)}"
        yield f"unlike any seen    {self.novelties:,}"
        if self.mean_probability is None:
            yield "calibration        the model has no probabilities"
        else:
            yield (
                f"calibration        mean probability of the best answer {self.mean_probability:.3f}, right in "
                f"{self.share_right:.3f}; off by {self.calibration_error:.3f} on average"
            )
        width = max(len(str(item.outcome)) for item in self.outcomes)
        for item in self.outcomes:
            wrong = f", {item.wrong:,} of these wrongly" if item.answered else ""
            yield (
                f"  {item.outcome!s:<{width}}  {item.answered:,} of {item.cases:,} cases answered{wrong}; cost "
                f"{item.cost:.4g} per case"
            )


def _shown(interval: Interval) -> str:
    return f"{interval.value:.4g} ({interval.low:.4g} to {interval.high:.4g})"


def _percent(interval: Interval) -> str:
    return f"{interval.value:.1%} ({interval.low:.1%} to {interval.high:.1%})"


def evaluate_classes(
    decisions: Decisions, truth: Indices, classes: Sequence[Any], costs: Costs, set_aside: int, *, calibrated: bool
) -> ClassEvaluation:
    """The figures of answers to cases of these true classes.

    Parameters
    ----------
    decisions : Decisions
        The answers.
    truth : ndarray of int
        Position of each outcome in `classes`.
    classes : sequence
        The classes of the model.
    costs : Costs
        Prices.
    set_aside : int
        Rows without an outcome.
    calibrated : bool
        Whether the scores of the answers are probabilities.
    """
    n = len(classes)
    forced, kinds = encode(decisions.forced, np.array(classes)), encode(decisions.kind, np.array(KINDS))
    matrix = costs.matrix(n)
    columns = answer_columns(forced, kinds, n)
    paid, accepted = matrix[truth, columns], decisions.accepted
    errors, reviews = np.where(accepted, paid, 0.0), np.where(accepted, 0.0, paid)
    wrong = accepted & (forced != truth)
    p = decisions.score if calibrated else None
    curve = None if p is None else _calibration(forced == truth, p)
    return ClassEvaluation(
        cases=len(truth),
        set_aside=set_aside,
        prices=costs.as_dict(),
        cost=combined(
            rare_mean(errors, float(matrix[:-1, :n].max())), frequent_mean(reviews, float(matrix[:-1, n:].max()))
        ),
        review_all=float(matrix[truth, n].mean()),
        never_reject=float(matrix[truth, forced].mean()),
        coverage=frequent_mean(accepted.astype(np.float64), 1.0),
        error=frequent_mean(wrong[accepted].astype(np.float64), 1.0) if accepted.any() else None,
        novelties=int((decisions.kind == "novelty").sum()),
        outcomes=[_figures(label, here, accepted, wrong, paid) for label, here in _present(classes, truth)],
        matrix=count_class_answers(columns, truth, n).tolist(),
        mean_probability=None if p is None else float(p.mean()),
        share_right=None if p is None else float((forced == truth).mean()),
        calibration_error=None if curve is None else float(curve.error),
    )


def _present(classes: Sequence[Any], truth: Indices) -> Iterator[tuple[Any, Any]]:
    """The outcomes that occur, and their cases."""
    for code, label in enumerate(classes):
        if (truth == code).any():
            yield to_python(label), truth == code


def _figures(label: Any, here: Any, accepted: Any, wrong: Any, paid: Floats) -> OutcomeFigures:
    return OutcomeFigures(
        label, int(here.sum()), int((here & accepted).sum()), int((here & wrong).sum()), float(paid[here].mean())
    )


def _calibration(right: Any, probability: Floats) -> Reliability:
    bins = int(np.clip(len(right) // _PER_BIN, 1, _MOST_BINS))
    return reliability_curve(right.astype(int), probability, n_bins=bins, pos_label=1)
