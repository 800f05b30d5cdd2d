"""Views of a table: numbers, categories, missing and unseen values, from any container."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from recuse.ensemble.features import CODES, SCALED, Table, TableViews, find_categories

FRAME = pd.DataFrame(
    {
        "age": [31.0, np.nan, 54.0, 47.0],
        "town": ["Ulm", "Bonn", None, "Ulm"],
        "member": [True, False, True, True],
        "n": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize(
    "frame", [FRAME, pl.from_pandas(FRAME), FRAME.astype({"town": "category"}), FRAME.convert_dtypes()]
)
def test_categories_are_found_and_both_views_agree_for_every_container(frame):
    categorical = find_categories(frame)
    assert categorical.tolist() == [False, True, True, False]
    table = Table.of(frame, categorical)
    views = TableViews().fit(table)
    codes = views.view(CODES, table)
    assert codes.matrix[:, :2] == pytest.approx(FRAME[["age", "n"]].to_numpy(), nan_ok=True)
    assert codes.categorical.tolist() == [2, 3]
    assert codes.matrix[0, 2] == codes.matrix[3, 2] != codes.matrix[1, 2]
    scaled = views.view(SCALED, table).matrix
    assert np.isfinite(scaled).all()
    # Two numbers, a flag for the missing age, three towns (one of them missing), two truth values.
    assert scaled.shape == (4, 2 + 1 + 3 + 2)
    assert scaled[:, 1].mean() == pytest.approx(0)
    assert scaled[:, 1].std() == pytest.approx(1)
    assert scaled[:, 2].tolist() == [0, 1, 0, 0]


def test_unseen_categories_and_far_values_are_taken():
    table = Table.of(FRAME, find_categories(FRAME))
    views = TableViews().fit(table)
    new = Table.of(FRAME.assign(town="Jena", n=10**9), table.categorical)
    assert np.isnan(views.view(CODES, new).matrix[:, 2]).all()
    scaled = views.view(SCALED, new).matrix
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() <= 20
    assert (scaled[:, 3:6] == 0).all()


def test_an_empty_and_a_constant_column_do_no_harm():
    X = np.column_stack([np.full(5, np.nan), np.ones(5), np.arange(5.0)])
    table = Table.of(X, np.zeros(3, dtype=bool))
    scaled = TableViews().fit(table).view(SCALED, table).matrix
    assert np.isfinite(scaled).all()
    assert (scaled[:, :2] == 0).all()
