"""A table of loans as a lender might export it, drawn so that the true probabilities are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import Floats
from ..extras import require
from ..parameters import check_count

_PURPOSES = {"car": 0.0, "furniture": 0.3, "renovation": -0.2, "other": 0.7}
_EMPLOYMENT = {"employee": 0.0, "civil servant": -0.8, "self-employed": 0.0, "retired": -0.4}
_SHARES = {"employee": 0.6, "civil servant": 0.1, "self-employed": 0.2, "retired": 0.1}
_REGIONS = ("north", "south", "east", "west")
_FIRST_DAY, _DAYS = "2024-01-01", 730


def make_loans(n_samples: int, *, return_probability: bool = False, random_state: Any = None) -> Any:
    """Loans with their outcomes: numbers, categories, dates, missing values, an identifier and a column that leaks.

    A loan defaults with a probability that rises with the instalment as a share of the income and with late payments,
    and falls with the years in the job. Of the self-employed, a fifth of the applicants, the income on paper says
    little: their defaults are drawn with a probability between 0.35 and 0.5, whatever else is known. So there are
    cases that no model can answer well, which is what manual review is for. `reminders` is counted after the loan was
    paid out, and almost is the outcome.

    Parameters
    ----------
    n_samples : int
        Number of loans.
    return_probability : bool, default=False
        Also return the probability of default that each outcome was drawn with.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    table : pandas.DataFrame
        Columns: loan_id, applied, income, amount, months, purpose, employment, years_in_job, late_payments, region,
        instalment_share, reminders, and outcome, which is "default" or "repaid".
    probability : ndarray of shape (n_samples,)
        Only with ``return_probability=True``.

    Examples
    --------
    >>> from recuse.datasets import make_loans
    >>> table, probability = make_loans(2000, return_probability=True, random_state=0)
    >>> table.shape, round(float((table["outcome"] == "default").mean()), 2), round(float(probability.mean()), 2)
    ((2000, 13), 0.22, 0.21)
    """
    pd = require("pandas", "make_loans")
    check_count("n_samples", n_samples)
    rng = check_random_state(random_state)
    columns = _columns(n_samples, rng)
    probability = _probability(columns)
    default = rng.uniform(size=n_samples) < probability
    # Reminders go out after a payment was missed: nobody knows their number when the application is decided.
    columns["reminders"] = np.where(default, rng.poisson(3, n_samples) + 1, rng.uniform(size=n_samples) < 0.02).astype(
        int
    )
    columns["outcome"] = np.where(default, "default", "repaid")
    columns["years_in_job"] = np.where(rng.uniform(size=n_samples) < 0.08, np.nan, columns["years_in_job"])
    columns["applied"] = pd.Timestamp(_FIRST_DAY) + pd.to_timedelta(
        np.sort(rng.randint(_DAYS, size=n_samples)), unit="D"
    )
    table = pd.DataFrame(columns)
    table.insert(0, "loan_id", [f"L{number:06d}" for number in range(1, n_samples + 1)])
    table.insert(1, "applied", table.pop("applied"))
    return (table, probability) if return_probability else table


def _columns(n: int, rng: np.random.RandomState) -> dict[str, Any]:
    """What an application says."""
    columns = {
        "income": np.round(np.exp(rng.normal(7.9, 0.4, n)), -1),
        "amount": np.round(np.exp(rng.normal(9.1, 0.6, n)), -2),
        "months": rng.choice([12, 24, 36, 48, 60], n),
        "purpose": rng.choice(list(_PURPOSES), n),
        "employment": rng.choice(list(_SHARES), n, p=list(_SHARES.values())),
        "years_in_job": np.round(rng.gamma(2.0, 4.0, n)),
        "late_payments": rng.poisson(0.5, n),
        "region": rng.choice(_REGIONS, n),
    }
    # Rounded as in a form; the probability follows the figure on it.
    return columns | {"instalment_share": np.round(columns["amount"] / columns["months"] / columns["income"], 2)}


def _probability(columns: dict[str, Any]) -> Floats:
    """The probability of default of each loan."""
    log_odds = (
        -5.5
        + 14.0 * np.minimum(columns["instalment_share"], 0.6)
        + 2.5 * np.minimum(columns["late_payments"], 3)
        - 0.1 * np.minimum(columns["years_in_job"], 15)
        + np.array([_PURPOSES[purpose] for purpose in columns["purpose"]])
        + np.array([_EMPLOYMENT[kind] for kind in columns["employment"]])
    )
    known: Floats = 1 / (1 + np.exp(-log_odds))
    unclear = 0.35 + 0.15 * known
    return np.where(columns["employment"] == "self-employed", unclear, known)
