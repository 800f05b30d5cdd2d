"""Which members there is time for: the cheapest first, and none that would not be done in time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Seconds spent and left.

    Members are fitted one after another. Before one starts, its time is taken to be what such a member needs on a table
    of this size, corrected by how the members before it compared with what they were taken to need.

    Attributes
    ----------
    limit : float or None
        Seconds in all.
    """

    limit: float | None
    _started: float = field(default_factory=time.perf_counter)
    _spent: float = 0.0
    _expected: float = 0.0

    def allows(self, expected: float) -> bool:
        """Whether a member that is expected to need so many seconds would be done in time."""
        return self.limit is None or self.elapsed + expected * self.pace <= self.limit

    def record(self, expected: float, needed: float) -> None:
        """Take note of a member that is done."""
        self._expected += expected
        self._spent += needed

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def pace(self) -> float:
        """How much slower this machine and table are than expected."""
        return self._spent / self._expected if self._expected > 0 else 1.0
