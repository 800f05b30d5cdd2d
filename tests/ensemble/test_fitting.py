"""What is said before the members are fitted."""

import pytest

from recuse.ensemble.budget import Budget
from recuse.ensemble.fitting import Schedule, _estimate


@pytest.mark.parametrize(
    ("seconds", "limit", "said"),
    [(0.2, None, "a few seconds"), (60.0, None, "about 60 s"), (600.0, 300, "about 10 min")],
)
def test_how_long_a_fit_will_take(seconds, limit, said):
    """Small fits take longer than their members alone: no seconds are promised."""
    sentence = _estimate(seconds, 3, 5, Schedule(Budget(limit), 1, 0, None))
    most = "" if limit is None else f", at most {limit} s"
    assert sentence == f"fitting 3 members on 5 folds: {said} on a free machine{most}."
