"""A table with a column of every kind."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [31.0, np.nan, 54.0, 20.0],
            "code": ["007", "010", "100", "1"],
            "member": [True, False, True, True],
            "since": pd.to_datetime(["2020-01-01", "2021-05-02", None, "2019-12-31"]),
            "y": ["no", "yes", "no", "yes"],
        }
    )


def with_outcomes(n=60, **columns):
    """A table of these columns and an outcome."""
    return pd.DataFrame({**columns, "y": ["no", "yes"] * (n // 2)})
