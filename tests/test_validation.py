"""Messages for tables that cannot be fitted: they name the column and say what to do."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data as sklearn_validate_data

from recuse import (
    AbstentionBoostingClassifier,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
    cross_val_decide,
)
from recuse.baselines import KSLinearClassifier, RankBoostClassifier, TwoStepBoostingClassifier
from tests.marks import may_reject_all

TAKE_GAPS = [
    AbstentionBoostingClassifier(n_rounds=3),
    TwoStepBoostingClassifier(n_rounds=3),
    RankBoostClassifier(),
    ExactBoostClassifier(n_estimators=2, n_rounds=3, random_state=0),
]
TAKE_NUMBERS = [DoubleHingeSVC(), DoubleRampSVC(), CoupledOneClassSVC(), KSLinearClassifier()]
EVERY = pytest.mark.parametrize("model", TAKE_GAPS + TAKE_NUMBERS, ids=lambda model: type(model).__name__)


@pytest.fixture
def cases(overlapping):
    X, y = overlapping
    return pd.DataFrame({"amount": X[:, 0], "age": X[:, 1]}), y


def spoiled(frame, **columns):
    return frame.assign(**columns)


@EVERY
@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_a_column_of_text_is_named(model, dtype, cases):
    if dtype == "category" and hasattr(model, "categorical_features"):
        model = clone(model).set_params(categorical_features=None)  # else a column like any other
    frame, y = cases
    purpose = pd.Series(np.where(y == 1, "travel", "car")).astype(dtype)
    purpose[0] = None if dtype == "object" else pd.NA
    with pytest.raises(ValueError, match=r"column 'purpose' holds '(travel|car)', and \w+ needs numbers: encode it"):
        model.fit(spoiled(frame, purpose=purpose), y)


@EVERY
@pytest.mark.parametrize(
    "opened",
    [
        pd.to_datetime(["2020-02-08"] * 239 + [None]),
        pd.to_datetime(["2020-02-08"] * 240).tz_localize("UTC"),
        [datetime.date(2020, 2, 8)] * 240,
    ],
    ids=["naive", "zoned", "objects"],
)
def test_a_column_of_dates_is_named(model, opened, cases):
    frame, y = cases
    with pytest.raises(ValueError, match=r"The column 'opened' holds dates, and \w+ needs numbers: .*TableVectorizer"):
        model.fit(spoiled(frame, opened=opened), y)


@EVERY
def test_a_column_with_an_infinite_number_is_named(model, cases):
    frame, y = cases
    frame.loc[3, "age"] = -np.inf
    with pytest.raises(ValueError, match="The column 'age' holds an infinite number: put a missing value"):
        model.fit(frame, y)


@pytest.mark.parametrize("model", TAKE_NUMBERS, ids=lambda model: type(model).__name__)
def test_a_column_with_missing_values_is_named_where_none_are_taken(model, cases):
    frame, y = cases
    frame.loc[3, "age"] = np.nan
    with pytest.raises(ValueError, match=r"The column 'age' has missing values, and \w+ takes none: fill them"):
        model.fit(frame, y)


@may_reject_all
def test_new_cases_and_polars_frames_give_the_same_messages(cases):
    frame, y = cases
    model = AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=3).fit(frame, y)
    with pytest.raises(ValueError, match="column 'age' holds 'old', and AbstentionBoostingClassifier needs numbers"):
        model.predict(spoiled(frame, age="old"))
    polars = pl.DataFrame({"amount": frame["amount"].to_numpy(), "purpose": ["car"] * len(y)})
    with pytest.raises(ValueError, match="The column 'purpose' holds 'car'"):
        AbstentionBoostingClassifier(n_rounds=3).fit(polars, y)


def test_without_column_names_the_message_is_scikit_learns(cases):
    frame, y = cases
    X = frame.to_numpy(copy=True)
    X[0, 0] = np.inf
    model = DoubleHingeSVC()
    with pytest.raises(ValueError) as expected:  # noqa: PT011
        sklearn_validate_data(model, X, y)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        model.fit(X, y)
    assert str(raised.value) == str(expected.value)
    with pytest.raises(ValueError, match="minimum of 2 is required"):  # nothing is wrong with a column
        AbstentionBoostingClassifier().fit(frame[:1], y[:1])


@pytest.mark.parametrize(
    "model",
    [*TAKE_GAPS, *TAKE_NUMBERS, ThresholdRejectClassifier(LogisticRegression())],
    ids=str,
)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("dtype", ["object", "string", "float", "Int64"])
def test_every_outcome_must_be_known(model, missing, dtype, cases):
    frame, y = cases
    labels = pd.Series(y if dtype in ("float", "Int64") else np.where(y == 1, "bad", "good")).astype(dtype)
    labels[5] = np.nan if dtype == "float" else missing
    with pytest.raises(ValueError, match=r"y holds missing values \(NaN, NA or None\): every case needs"):
        model.fit(frame, labels)


def test_cross_val_decide_wants_every_outcome_too(cases):
    frame, y = cases
    labels = pd.Series(np.where(y == 1, "bad", "good"), dtype="string")
    labels[5] = pd.NA
    with pytest.raises(ValueError, match="every case needs a known outcome"):
        cross_val_decide(ThresholdRejectClassifier(LogisticRegression()), frame, labels)


@may_reject_all
def test_another_table_is_refused_as_such(cases):
    frame, y = cases
    model = AbstentionBoostingClassifier(n_rounds=3).fit(frame, y)
    other = frame.rename(columns={"age": "zz"}).assign(zz=np.inf)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other)
    with pytest.raises(ValueError, match="feature"):
        model.predict(frame[["amount"]].assign(amount="x"))
    nameless = AbstentionBoostingClassifier(n_rounds=3).fit(frame.to_numpy(), y)
    with pytest.raises(ValueError, match="The column 'amount' holds 'x'"), pytest.warns(UserWarning, match="names"):
        nameless.predict(frame.assign(amount="x"))
