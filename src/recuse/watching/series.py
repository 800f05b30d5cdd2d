"""What a page of a watch shows of each batch, beside the evidence: rates, and the error among accepted cases.

The error is estimated from the audit: a random part of the accepted cases, each weighted by the inverse of the
probability with which it was drawn. Beside it stands what the model itself expects, the mean probability of the other
class: it needs no verdict, and it goes on expecting the old error while the world has changed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..comparison.intervals import Interval, rare_mean
from .batches import Batch, Reviewed


@dataclass(frozen=True)
class Point:
    """One batch.

    Attributes
    ----------
    draw, at : str
        Its identity, and when it was drawn.
    cases, reviewed, audited, open : int
        Answers, cases with a verdict, those of them that the model had accepted, and cases still without one.
    counted : bool
        Whether its verdicts count yet.
    reference : bool
        Whether it is part of what later batches are compared with.
    reject_rate, novelty_rate : float
        Of all answers.
    error : Interval or None
        Error rate among accepted cases, from the audit; None without audited cases.
    expected_error : float or None
        What the model expects it to be, by the probabilities of all accepted cases, without any verdict; None where it
        has none.
    overturned : float or None
        Share of the reviewed rejected cases whose forced class was not the verdict.
    """

    draw: str
    at: str
    cases: int
    reviewed: int
    audited: int
    open: int
    counted: bool
    reference: bool
    reject_rate: float
    novelty_rate: float
    error: Interval | None
    expected_error: float | None
    overturned: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self) | {"error": None if self.error is None else self.error._asdict()}


def point_of(batch: Batch, reference: bool) -> Point:
    """What is shown of a batch."""
    audits, rejected = batch.reviewed.among(batch.reviewed.audit), batch.reviewed.among(~batch.reviewed.audit)
    rejections = batch.ambiguity + batch.novelty
    return Point(
        batch.draw,
        batch.at,
        batch.cases,
        len(batch.reviewed),
        len(audits),
        batch.open,
        batch.complete,
        reference,
        rejections / batch.cases if batch.cases else 0.0,
        batch.novelty / batch.cases if batch.cases else 0.0,
        audited_error(audits),
        batch.drawing.get("expected_error"),
        _weighted(_wrong(rejected), rejected.sampling) if len(rejected) else None,
    )


def audited_error(audits: Reviewed) -> Interval | None:
    """Error rate among accepted cases with its limits; None without audited cases."""
    if len(audits) == 0:
        return None
    shares = 1 / audits.sampling
    amounts = _wrong(audits) * shares / shares.mean()
    return Interval(*(min(1.0, limit) for limit in rare_mean(amounts, float(shares.max() / shares.mean()))))


def _wrong(reviewed: Reviewed) -> Floats:
    return (reviewed.positive != reviewed.forced_positive).astype(np.float64)


def _weighted(values: Floats, sampling: Floats) -> float:
    return float(np.average(values, weights=1 / sampling))
