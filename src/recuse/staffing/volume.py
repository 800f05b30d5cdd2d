"""How many cases there are, what they are counted in, and how long a person looks at one."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from ..parameters import typed_number

# Days of each period, on average.
_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "quarter": 365.25 / 4, "year": 365.25}
_MONTHLY_HOURS = 120.0
_WRITTEN = re.compile(r"\s*(\d[\d.,_ ]*)(?:/|per|a|an)\s*([a-z]+?)s?\s*", re.IGNORECASE)

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")  # 12,000 cases: hardly anybody counts in thousandths of them


@dataclass(frozen=True)
class Volume:
    """How many cases are decided in a period, and what reviewing them takes.

    Parameters
    ----------
    cases : float
        Cases in a period.
    period : {"day", "week", "month", "quarter", "year"}
        The period.
    currency : str, default=""
        What prices are counted in, as it is written behind amounts.
    minutes_per_case : float or None, default=None
        How long a person looks at one case.
    hours_per_reviewer : float or None, default=None
        How many hours of reviewing one person has in a period; None: 120 in a month, and accordingly in others.

    Examples
    --------
    >>> from recuse.report import Volume
    >>> Volume.of("12,000/month", currency="EUR", minutes_per_case=6)
    Volume(cases=12000.0, period='month', currency='EUR', minutes_per_case=6, hours_per_reviewer=120.0)
    """

    cases: float
    period: str
    currency: str = ""
    minutes_per_case: float | None = None
    hours_per_reviewer: float | None = None

    def __post_init__(self) -> None:
        if self.period not in _DAYS:
            raise ValueError(f"period={self.period!r} is not known; there are {', '.join(_DAYS)}.")
        for name in ("cases", "minutes_per_case", "hours_per_reviewer"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} must be greater than 0; got {value:g}.")
        if len(self.currency) > 12:
            raise ValueError(f"currency={self.currency!r} is too long; give a sign or a short name, such as EUR.")
        if self.hours_per_reviewer is None:
            hours = _MONTHLY_HOURS * _DAYS[self.period] / _DAYS["month"]
            object.__setattr__(self, "hours_per_reviewer", round(hours, 2))

    @classmethod
    def of(cls, text: str, **others: Any) -> Volume:
        """Read a volume such as "12000/month"."""
        found = _WRITTEN.fullmatch(text)
        if found is None or found[2].lower() not in _DAYS:
            raise ValueError(
                f"volume={text!r} is not understood; write a number of cases and the period, such as 12000/month "
                f"({', '.join(_DAYS)})."
            )
        number = re.sub("[_ ]", "", found[1])
        try:
            cases = float(number.replace(",", "") if _THOUSANDS.fullmatch(number) else typed_number(number))
        except ValueError as error:
            raise ValueError(f"volume={text!r}: {error}") from None
        return cls(cases, found[2].lower(), **others)

    @property
    def days(self) -> float:
        """Days of the period, on average."""
        return _DAYS[self.period]

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)

    def sentences(self, cost: Any, saved: Any, review: float) -> str:
        """What a rule costs and saves in a period, and how many people it takes.

        Parameters
        ----------
        cost, saved : sequence of three floats
            Cost per case, and what is saved per case against the manual review of every case, with their limits.
        review : float
            Share of the cases sent to manual review.
        """
        text = (
            f"With {self.cases:,.0f} cases a {self.period} it costs {self._amounts(cost)} a {self.period}; against the "
            f"manual review of every case it saves {self._amounts(saved)}. {self.cases * review:,.0f} cases a "
            f"{self.period} go to manual review"
        )
        return text + ("." if self.minutes_per_case is None else f": {self._reviewers(review)}.")

    def _amounts(self, interval: Any) -> str:
        value, low, high = (f"{self.cases * part:,.0f}" for part in interval)
        return f"{value}{' ' if self.currency else ''}{self.currency} [{low}, {high}]"

    def _reviewers(self, review: float) -> str:
        assert self.minutes_per_case is not None
        assert self.hours_per_reviewer is not None
        hours, all_hours = (self.cases * share * self.minutes_per_case / 60 for share in (review, 1.0))
        people, all_people = hours / self.hours_per_reviewer, all_hours / self.hours_per_reviewer
        others = "as for every case" if review == 1 else f"instead of {all_people:.1f} for every case"
        return (
            f"{hours:,.0f} hours at {self.minutes_per_case:g} minutes each, the work of {people:.1f} people with "
            f"{self.hours_per_reviewer:g} hours a {self.period}, {others}"
        )
