"""How long a comparison takes: what there is to say after the first fold, and a limit after which nothing is begun."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..parameters import check_number


@dataclass
class TimeLimit:
    """Seconds spent and left.

    Attributes
    ----------
    seconds : float or None
        After so many nothing new is begun; a fit in progress is not cut off. None for no limit.
    """

    seconds: float | None = None
    _started: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(cls, seconds: float | None) -> TimeLimit:
        """The limit that was asked for, checked; it begins to run now."""
        if seconds is not None:
            check_number("time_limit", seconds, 0.0, strict=True, remedy="Give seconds, or None for no limit.")
        return cls(seconds)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def is_over(self) -> bool:
        """Whether nothing new may be begun."""
        return self.seconds is not None and self.elapsed >= self.seconds

    @property
    def goes_on(self) -> bool:
        """Whether something new may be begun."""
        return not self.is_over


def as_time(seconds: float) -> str:
    """A length of time, roughly."""
    if seconds < 99:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99 * 60 else f"{seconds / 3600:.1f} h"


def estimate(n_methods: int, n_folds: int, left: float, most_repeats: int, limit: TimeLimit) -> str:
    """One sentence after the first fold: how long the others will take."""
    often = f"; then what may matter to the choice is repeated, {most_repeats - 1} times at most"
    often = often if most_repeats > 1 else ""
    at_most = "" if limit.seconds is None else f"; nothing is begun after {as_time(limit.seconds)} in all"
    methods = "1 method" if n_methods == 1 else f"{n_methods} methods"
    return f"{methods} on {n_folds} folds: about {as_time(left)} more, by the first fold{often}{at_most}."


def not_done(folds: int, of: int, limit: TimeLimit, resumes: bool) -> str:
    """Why a method is missing, and how to get it."""
    again = "the same command goes on with it" if resumes else "give more time"
    return f"{folds} of {of} folds were done within time_limit={limit.seconds:g} seconds; {again}"
