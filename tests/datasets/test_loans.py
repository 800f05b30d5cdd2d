"""The table of loans: what its docstring promises is in it."""

import numpy as np
import pytest

from recuse.datasets import make_loans
from recuse.tables import check_table


@pytest.fixture(scope="module")
def loans():
    return make_loans(20_000, return_probability=True, random_state=0)


def test_outcomes_follow_the_probability(loans):
    table, probability = loans
    default = (table["outcome"] == "default").to_numpy()
    # Sums of independent draws: each within four standard deviations.
    for part in np.array_split(np.argsort(probability), 10):
        p = probability[part]
        assert abs(default[part].sum() - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum())


def test_nothing_but_review_helps_with_the_self_employed(loans):
    table, probability = loans
    unclear = (table["employment"] == "self-employed").to_numpy()
    assert probability[unclear].min() >= 0.35
    assert probability[unclear].max() <= 0.5
    assert np.mean((probability[~unclear] < 0.05) | (probability[~unclear] > 0.75)) > 0.5


def test_what_is_wrong_with_the_table_is_found(loans):
    findings = " ".join(check_table(loans[0], "outcome", "default").findings)
    assert "'loan_id' holds a different value in every row" in findings
    assert "'reminders' almost is the outcome" in findings


def test_the_same_seed_gives_the_same_table():
    assert make_loans(50, random_state=1).equals(make_loans(50, random_state=1))
    assert not make_loans(50, random_state=1).equals(make_loans(50, random_state=2))


def test_a_table_needs_a_row():
    with pytest.raises(ValueError, match="n_samples"):
        make_loans(0)
