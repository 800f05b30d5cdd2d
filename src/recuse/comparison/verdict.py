"""Does rejecting pay? The one place that decides it; the terminal and the report only put it into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..arrays import Floats
from .leaderboard import Interval, Row, bootstrap_mean

YES, NO, UNCLEAR = "yes", "no", "unclear"


class Verdict(NamedTuple):
    """The cheapest method that may reject, the cheapest way without rejection, and what the first saves per case."""

    rejecting: Row
    reference: Row
    saved: Interval

    @property
    def pays(self) -> str:
        """Whether the saving is above 0 for certain, at most 0 for certain, or neither."""
        if self.saved.low > 0:
            return YES
        return NO if self.saved.high <= 0 else UNCLEAR


def judge(rows: Sequence[Row], prices: dict[str, Floats], seed: int) -> Verdict | None:
    """Compare the cheapest rejecting method with the cheapest reference.

    Parameters
    ----------
    rows : list of Row
        The leaderboard, cheapest first.
    prices : dict
        For each method, the mean price of each case.
    seed : int
        Random state of the bootstrap.

    Returns
    -------
    Verdict or None
        None where one of the two is missing.
    """
    ranked = [row for row in rows if row.cost is not None]
    rejecting = next((row for row in ranked if not row.reference), None)
    reference = next((row for row in ranked if row.reference), None)
    if rejecting is None or reference is None:
        return None
    saved = bootstrap_mean(prices[reference.name] - prices[rejecting.name], seed)
    return Verdict(rejecting, reference, saved)
