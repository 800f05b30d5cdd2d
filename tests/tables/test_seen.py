"""What a model remembers of its training table: rows that are found again, values that are new."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import TableColumns
from recuse.tables.seen import UnseenValues, row_digests, sampled_rows, share_found


def rows(n, seed, levels=None):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n) if levels is None else rng.integers(0, levels, n).astype(float)
    towns = pd.Series(rng.choice(["Ulm", "Bonn", None], n), dtype="string")
    return pd.DataFrame({"x": numbers, "town": towns, "day": pd.Timestamp("2024-01-01")})


def fitted(frame):
    columns = TableColumns().fit(frame)
    columns.remember_table(frame)
    return columns


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_the_share_of_training_rows_is_found_whatever_their_order(share):
    training, other = rows(3_000, 0), rows(3_000, 1)
    columns, kept = fitted(training), int(share * len(training))
    table = pd.concat([training.sample(kept, random_state=0), other]).sample(frac=1, random_state=1)
    assert columns.share_seen(columns.transform(table)) == pytest.approx(share, abs=0.1)


def test_rows_that_are_alike_by_chance_are_not_found():
    """In a table of a few yes and no, every row has twins: that says nothing about where it comes from."""
    columns = fitted(rows(500, 0, levels=3))
    assert columns.share_seen(columns.transform(rows(500, 1, levels=3))) == 0.0


def test_digests_depend_on_values_and_not_on_their_types_or_units():
    frame = rows(50, 0)
    other = frame.assign(town=frame["town"].astype(object).where(frame["town"].notna(), None))
    columns = fitted(frame)
    other["day"] = other["day"].astype("datetime64[ns]")
    assert (row_digests(columns.transform(frame)) == row_digests(columns.transform(other))).all()
    assert share_found(np.empty(0, dtype=np.uint64), row_digests(columns.transform(frame))) == 0.0
    assert sampled_rows(3).tolist() == [0, 1, 2]
    assert len(sampled_rows(10_000)) == 256


def test_new_values_are_counted_over_chunks():
    unseen = fitted(pd.DataFrame({"town": ["Ulm", "Bonn"] * 9, "note": [f"n{i}" for i in range(18)]})).unseen_values()
    unseen.look_at(pd.DataFrame({"town": ["Ulm", None, "Rom"], "note": "n1"}, index=[7, 8, 9]), 10)
    unseen.look_at(pd.DataFrame({"town": ["Rom", "Ulm"], "note": "n1"}), 13)
    assert "town = 'Rom' (2 cases, the first in row 13)" in unseen.sentence()
    fitted_on = pd.DataFrame({"amount": [1.5, 20.0, 3.0], "change": [-1.0, 2.0, 3.0]})
    for amounts in ([5.0, -500.0, None, -1.0], ["5,0", "-500,00", None, " \u22121,0"]):
        unseen = fitted(fitted_on).unseen_values()
        unseen.look_at(pd.DataFrame({"amount": amounts, "change": -9.0}), 0)
        assert "never had: amount below 0 (2 cases, the first in row 2): the model" in unseen.sentence()
    assert UnseenValues({"town": ["Ulm"]}).sentence() is None
