"""Figures by segment: what the method chosen costs, answers and gets wrong for each group of cases, beside today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..tables.segmenting import Segmented
from .intervals import Interval, decimals_of, wilson
from .leaderboard import flat
from .payments import Payments
from .served_worse import FIGURES, RATE, deviations, served_worse

_UNKNOWN = Interval(float("nan"), float("nan"), float("nan"))
_RATES = ("cost", "coverage", "review", "error")
_WORDS = {
    "cost": "costs {found:,.{decimals}f} per case where its outcomes explain {expected:,.{decimals}f}",
    "review": "is sent to manual review in {found:.1%} of the cases where its outcomes explain {expected:.1%}",
    "error": "is answered wrongly in {found:.1%} of the cases answered where its outcomes explain {expected:.1%}",
}


@dataclass(frozen=True)
class TodayInSegment:
    """Today's policy on the cases of a segment.

    Attributes
    ----------
    cost, coverage, review, error : Interval
        As of the method.
    saved : Interval
        What the method saves per case against it, paired case by case.
    """

    cost: Interval
    coverage: Interval
    review: Interval
    error: Interval
    saved: Interval

    def as_dict(self) -> dict[str, float]:
        """The figures by name, as in segments.csv."""
        return {
            f"today_{key}": value
            for name in (*_RATES, "saved")
            for key, value in flat(name, getattr(self, name)).items()
        }


@dataclass(frozen=True)
class Segment:
    """Cases of one value, or of one band of values, of a column.

    Attributes
    ----------
    column, label : str
        The column and the value or band.
    cases, positives : int
        How many there are; with three classes or more no positives.
    cost, coverage, review, error : Interval
        Cost per case, shares of the cases answered and sent to manual review, and share of wrong answers among those
        answered.
    expected : dict of str to float
        Of "cost", "review" and "error", what the outcomes of its cases explain: the means over all cases of these
        outcomes.
    p : dict of str to float
        Adjusted p-values of being served worse than that; see `served_worse`.
    today : TodayInSegment or None
        Today's policy on its cases, where a column holds it.
    """

    column: str
    label: str
    cases: int
    positives: int | None
    cost: Interval
    coverage: Interval
    review: Interval
    error: Interval
    expected: dict[str, float]
    p: dict[str, float]
    today: TodayInSegment | None = None

    @property
    def worse(self) -> list[str]:
        """In which figures it is served worse."""
        return [figure for figure in FIGURES if self.p[figure] <= RATE]

    @property
    def sentence(self) -> str:
        """In which way it is served worse; empty if it is not."""
        decimals = decimals_of(self.cost.value, self.expected["cost"])
        parts = [
            _WORDS[figure].format(found=getattr(self, figure).value, expected=self.expected[figure], decimals=decimals)
            for figure in self.worse
        ]
        return f"{self.column} = {self.label} {' and '.join(parts)}." if parts else ""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, as in segments.csv."""
        found: dict[str, Any] = {
            "column": self.column,
            "segment": self.label,
            "cases": self.cases,
            **({} if self.positives is None else {"positives": self.positives}),
        }
        for name in _RATES:
            found |= flat(name, getattr(self, name))
        for figure in FIGURES:
            found |= {f"expected_{figure}": self.expected[figure], f"p_{figure}": self.p[figure]}
        found["served_worse"] = ", ".join(self.worse)
        return found if self.today is None else found | self.today.as_dict()


def segments_of(
    columns: Sequence[Segmented],
    payments: Payments,
    positive: Flags | Indices,
    *,
    seed: int,
    units: Indices | None = None,
    today: Payments | None = None,
) -> list[Segment]:
    """Figures of every segment of some columns.

    Parameters
    ----------
    columns : sequence of Segmented
        The columns, cut into segments.
    payments : Payments
        What each case pays under the method.
    positive : ndarray of bool or int of shape (n,)
        Outcome of each case; of three classes or more its number.
    seed : int
        Random state of the test.
    units : ndarray of int of shape (n,), optional
        Unit of each case, if cases belong together.
    today : Payments, optional
        What each case pays under today's policy.
    """
    answered, wrong = _shares(payments, positive)
    deviating = deviations(payments.prices, answered, wrong, positive)
    found = []
    for column in columns:
        p = served_worse(deviating, positive, column.codes, n_columns=len(columns), seed=seed, units=units)
        for position, label in enumerate(column.labels):
            inside = column.codes == position
            own, together = _within(payments, inside), _renumbered(units, inside)
            found.append(
                Segment(
                    column.column,
                    label,
                    cases=int(inside.sum()),
                    positives=int(positive[inside].sum()) if payments.n_classes == 2 else None,
                    cost=own.cost(together),
                    **_rates(answered[inside], wrong[inside], together),
                    expected=_expected(payments.prices, answered, wrong, positive, inside),
                    p=dict(zip(FIGURES, p[position].tolist(), strict=True)),
                    today=None if today is None else _today(own, _within(today, inside), positive[inside], together),
                )
            )
    return found


def _today(own: Payments, today: Payments, positive: Flags | Indices, units: Indices | None) -> TodayInSegment:
    answered, wrong = _shares(today, positive)
    return TodayInSegment(
        cost=today.cost(units), **_rates(answered, wrong, units), saved=own.saved_against(today, units)
    )


def _shares(payments: Payments, positive: Flags | Indices) -> tuple[Floats, Floats]:
    """How often each case is answered, and answered wrongly, over the repetitions."""
    accepted = payments.columns < payments.n_classes
    return accepted.mean(axis=0), (accepted & (payments.columns != positive)).mean(axis=0)


def _within(payments: Payments, inside: Flags) -> Payments:
    return replace(
        payments,
        columns=payments.columns[:, inside],
        repeated=payments.repeated[:, inside],
        errors=payments.errors[inside],
        reviews=payments.reviews[inside],
    )


def _renumbered(units: Indices | None, inside: Flags) -> Indices | None:
    if units is None:
        return None
    found: Indices = np.unique(units[inside], return_inverse=True)[1]
    return found


def _rates(answered: Floats, wrong: Floats, units: Indices | None) -> dict[str, Interval]:
    whole = np.ones(len(answered))
    return {
        "coverage": _ratio(answered, whole, units),
        "review": _ratio(1 - answered, whole, units),
        "error": _ratio(wrong, answered, units),
    }


def _ratio(parts: Floats, wholes: Floats, units: Indices | None) -> Interval:
    """A share with Wilson's interval; where cases belong together, of as many cases as tell as much."""
    total = float(wholes.sum())
    if total == 0:
        return _UNKNOWN
    share = min(float(parts.sum()) / total, 1.0)
    if units is None:
        return wilson(share, total)
    spread = float((np.bincount(units, parts - share * wholes) ** 2).sum()) / total**2
    n_units = len(np.unique(units[wholes > 0]))
    return wilson(share, n_units if spread == 0 else float(np.clip(share * (1 - share) / spread, 1.0, total)))


def _expected(
    cost: Floats, answered: Floats, wrong: Floats, positive: Flags | Indices, inside: Flags
) -> dict[str, float]:
    """What each figure would be if every case were treated as all cases of its outcome are on average."""
    paid = reviewed = errors = 0.0
    for label in np.unique(positive):
        outcome = positive == label
        here, accepted = inside & outcome, float(answered[outcome].sum())
        if here.any():
            paid += float(cost[outcome].mean()) * here.sum()
            reviewed += (1 - float(answered[outcome].mean())) * here.sum()
            errors += float(answered[here].sum()) * (float(wrong[outcome].sum()) / accepted if accepted else 0.0)
    accepted = float(answered[inside].sum())
    return {
        "cost": paid / inside.sum(),
        "review": reviewed / inside.sum(),
        "error": errors / accepted if accepted else float("nan"),
    }
