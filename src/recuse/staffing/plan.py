"""A plan of reviewers' hours: what so many of them cost and save, and how many cases wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import numpy as np

from ..parameters import check_count, check_number
from .backlog import replay_backlog
from .cases import PricedCases
from .costing import REPLAYS, Forecast, replay
from .volume import Volume

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the hours that all reviews take: what is always shown
_SHOWN_DAYS = (1, 7, 30, 90, 180, 365)


@dataclass(frozen=True)
class StaffLevel:
    """So many hours of reviewing in a period.

    Attributes
    ----------
    hours, reviewers : float
        Hours, and people who have them.
    reviews : float
        Reviews that there is time for.
    cost : Forecast
        What a period costs, reviews at the price of a rejection included.
    next_hour : Forecast
        What one more hour in a period saves on average, its reviews paid at the same price: below 0 it costs. The
        limits are those of replayed periods, wider than an average needs.
    """

    hours: float
    reviewers: float
    reviews: float
    cost: Forecast
    next_hour: Forecast


@dataclass(frozen=True)
class WaitingCases:
    """Rejected cases that wait at the end of a day.

    Attributes
    ----------
    day : int
        From 1.
    cases, days : Forecast
        How many wait, and how many days it takes to review them.
    """

    day: int
    cases: Forecast
    days: Forecast


@dataclass(frozen=True)
class CapacityPlan:
    """What reviewers' hours cost and save, and how many cases wait for them.

    Attributes
    ----------
    volume : Volume
        Cases in a period, minutes per case, hours per reviewer.
    sample : int
        Cases that the plan was made from.
    known : str
        "outcomes", or "probabilities" where costs are what the model expects.
    rejected, hours_needed : Forecast
        Cases for manual review in a period, and the hours that all of them take.
    levels : list of StaffLevel
        From none to more than enough; that of `hours` is among them.
    hours : float
        Hours that the queue is planned for.
    used : Forecast
        Share of them that new cases take; above 1 the queue grows without end.
    waiting : list of WaitingCases
        The queue with these hours, if every rejected case waits for its review, day by day.
    """

    volume: Volume
    sample: int
    known: str
    rejected: Forecast
    hours_needed: Forecast
    levels: list[StaffLevel]
    hours: float
    used: Forecast
    waiting: list[WaitingCases]

    @property
    def level(self) -> StaffLevel:
        """The level of `hours`."""
        return next(level for level in self.levels if level.hours == self.hours)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; a forecast is a list of what is expected and its limits."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The plan for a terminal."""
        volume, period = self.volume, self.volume.period
        yield (
            f"{volume.cases:,.0f} cases a {period}: {_shown(self.rejected)} go to manual review, "
            f"{_shown(self.hours_needed)} hours at {volume.minutes_per_case:g} minutes each"
        )
        basis = "known outcomes" if self.known == "outcomes" else "the probabilities of the model, if they are right"
        yield f"from {self.sample:,} cases and {basis}; in brackets where a {period} lies with 95 %"
        yield f"{'hours':>8} {'people':>7} {'reviews':>8}   {f'cost a {period}':<34} one more hour saves"
        digits = 0 if self.levels[-1].hours >= 100 else 1
        for level in self.levels:
            mark = "*" if level.hours == self.hours else " "
            yield (
                f"{level.hours:>7,.{digits}f}{mark} {level.reviewers:>7.1f} {level.reviews:>8,.0f}   "
                f"{self._money(level.cost):<34} {self._money(level.next_hour)}"
            )
        yield f"* with {self.hours:,.0f} hours, of which new cases take {self.used.value:.0%}, and if every case waits:"
        for waiting in self.waiting:
            if waiting.day in (*_SHOWN_DAYS, self.waiting[-1].day):
                work = f"{waiting.days.value:,.1f} days of work"
                yield f"  after day {waiting.day:>3}  {_shown(waiting.cases)} cases wait, {work}"

    def sentence(self) -> str:
        """How many hours all reviews take, and what one more hour saves where there are fewer."""
        if self.rejected.value == 0:
            return "No case goes to manual review, and no hour of it would save anything."
        fewer, half = (self._money(self._nearest(share).next_hour) for share in (0.75, 0.5))
        return (
            f"All of these reviews take {_shown(self.hours_needed)} hours a {self.volume.period}. "
            f"Where there is a quarter less time, one more hour saves {fewer} on average; where there is half of it, "
            f"{half}."
        )

    def _nearest(self, share: float) -> StaffLevel:
        """The level nearest to a share of the hours that all reviews take."""
        return min(self.levels, key=lambda level: abs(level.hours - share * self.hours_needed.value))

    def _money(self, forecast: Forecast) -> str:
        currency = f" {self.volume.currency}" if self.volume.currency else ""
        return _shown(forecast, currency)


def _shown(forecast: Forecast, unit: str = "") -> str:
    digits = 0 if max(map(abs, forecast)) >= 100 else 1 if max(map(abs, forecast)) >= 10 else 2
    value, low, high = (f"{0.0 if round(part, digits) == 0 else part:,.{digits}f}" for part in forecast)
    return f"{value}{unit} [{low}, {high}]"


def plan_capacity(
    cases: PricedCases,
    volume: Volume,
    *,
    hours: float | None = None,
    days: int = 90,
    waiting: int = 0,
    known: str = "outcomes",
    seed: int = 0,
) -> CapacityPlan:
    """Plan reviewers' hours from a sample of cases.

    Parameters
    ----------
    cases : PricedCases
        The sample: cases like those that will come.
    volume : Volume
        How many will come in a period, and how long a review takes.
    hours : float, optional
        Hours of reviewing in a period that the queue is planned for; by default those of as many whole people as all
        reviews take.
    days : int, default=90
        How far ahead the queue is shown.
    waiting : int, default=0
        Cases that wait already.
    known : str
        What the costs of the sample rest on.
    seed : int, default=0
        Of the replays.
    """
    minutes, per_reviewer = volume.minutes_per_case, volume.hours_per_reviewer
    if minutes is None or per_reviewer is None:
        raise ValueError("minutes_per_case is missing: say how long a person looks at one case (--minutes-per-case).")
    check_count("days", days)
    check_count("waiting", waiting, least=0)
    needed = volume.cases * float(cases.rejected.mean()) * minutes / 60
    hours = max(1, ceil(needed / per_reviewer)) * per_reviewer if hours is None else float(hours)
    check_number("hours", hours, 0.0, strict=True)
    grid = np.unique([*(share * needed for share in _SHARES), hours])
    rng = np.random.default_rng(seed)
    replays = replay(cases, volume.cases, grid * 60 / minutes, rng)
    levels = [
        StaffLevel(
            float(grid[k]),
            float(grid[k]) / per_reviewer,
            float(grid[k]) * 60 / minutes,
            Forecast.of(replays.costs[:, k], replays.unseen_costs[:, k]),
            Forecast.of(replays.worth[:, k] * 60 / minutes),
        )
        for k in range(len(grid))
    ]
    return CapacityPlan(
        volume,
        len(cases),
        known,
        rejected=Forecast.of(replays.rejected),
        hours_needed=Forecast.of(replays.rejected * minutes / 60),
        levels=levels,
        hours=hours,
        used=Forecast.of(replays.rejected * minutes / 60 / hours),
        waiting=_waiting(cases, volume, hours * 60 / minutes, days, waiting, rng),
    )


def _waiting(
    cases: PricedCases, volume: Volume, reviews: float, days: int, start: int, rng: np.random.Generator
) -> list[WaitingCases]:
    """The queue at the end of each day, with so many reviews in a period."""
    a_day = reviews / volume.days
    rejected = int(cases.rejected.sum())
    queues = replay_backlog(rejected, len(cases), volume.cases / volume.days, a_day, days, start, rng, REPLAYS)
    found = [Forecast.of(queue) for queue in queues.T]
    return [WaitingCases(day, queue, Forecast(*(part / a_day for part in queue))) for day, queue in enumerate(found, 1)]
