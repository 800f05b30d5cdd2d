"""Tickets for five departments, made up, and what it costs to send one to the wrong desk."""

import numpy as np
import pandas as pd

NAMES = ("billing", "legal", "returns", "sales", "support")
PRICES = """truth,billing,legal,sales,support,returns,reject
billing,,2,1,1,1,0.3
legal,10,,10,12,10,0.8
sales,1,2,,1,1,0.3
support,1,2,1,,1,0.3
returns,1.5,2,1,1,,0.3
"""
_CENTRES = np.array([[0, 0], [2.4, 0.4], [-0.4, -2.2], [0.6, 2.2], [-2.2, 1.0]])
_SHARES = (0.28, 0.1, 0.17, 0.22, 0.23)


def tickets(n=300, seed=0, signal=1.0):
    """Cases of five outcomes; without signal the columns tell nothing."""
    rng = np.random.default_rng(seed)
    y = rng.choice(5, n, p=_SHARES)
    x = signal * _CENTRES[y] + rng.normal(size=(n, 2))
    today = np.where(rng.random(n) < 0.5, np.array(NAMES)[rng.integers(0, 5, n)], np.array(NAMES)[y])
    return pd.DataFrame(
        {
            "amount": x[:, 0],
            "length": x[:, 1],
            "channel": np.where(rng.random(n) < 0.2 + 0.12 * y, "mail", "phone"),
            "region": rng.choice(["north", "south"], n),
            "client": rng.integers(0, n // 3, n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) // 2, unit="D"),
            "today": np.where(rng.random(n) < 0.3, "review", today),
            "department": np.array(NAMES)[y],
        }
    )


def price_table(path):
    """The prices by truth and answer, read by pandas alone."""
    return pd.read_csv(path, index_col="truth").fillna(0.0)
