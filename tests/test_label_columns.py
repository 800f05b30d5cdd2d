"""Labels keep their type and their values, whatever column they come in, for every estimator."""

import datetime
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from recuse import ThresholdRejectClassifier, cross_val_decide

from .estimators import ESTIMATORS, every_estimator

pytestmark = [
    pytest.mark.filterwarnings("ignore:The labels are booleans"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

HUGE = [2**62, 2**62 + 1]  # one number for a float

# Kinds of columns: what puts a list of labels, None for a missing one, into such a column, and the two classes.
COLUMNS = {
    "list": (list, ["no", "yes"]),
    "objects of numbers": (lambda labels: np.array(labels, dtype=object), [3, 7]),
    "objects of NumPy integers": (lambda labels: np.array([np.int64(label) for label in labels], dtype=object), HUGE),
    "NumPy StringDType": (lambda labels: np.array(labels, dtype=np.dtypes.StringDType()), ["no", "yes"]),
    "NumPy integers": (np.array, HUGE),
    "pandas Int64": (lambda labels: pd.Series(labels, dtype="Int64"), HUGE),
    "pandas Int8": (lambda labels: pd.Series(labels, dtype="Int8"), [-1, 1]),
    "pandas UInt8": (lambda labels: pd.Series(labels, dtype="UInt8"), [0, 1]),
    "pandas Float64": (lambda labels: pd.Series(labels, dtype="Float64"), [0.0, 1.0]),
    "pandas boolean": (lambda labels: pd.Series(labels, dtype="boolean"), [False, True]),
    "pandas string": (lambda labels: pd.Series(labels, dtype="string"), ["no", "yes"]),
    "pandas str": (lambda labels: pd.Series(labels, dtype="str"), ["no", "yes"]),
    "pandas bool[pyarrow]": (lambda labels: pd.Series(labels, dtype="bool[pyarrow]"), [False, True]),
    "pandas int64[pyarrow]": (lambda labels: pd.Series(labels, dtype="int64[pyarrow]"), HUGE),
    "pandas string[pyarrow]": (lambda labels: pd.Series(labels, dtype=pd.ArrowDtype(pa.string())), ["no", "yes"]),
    "pandas category of text": (lambda labels: pd.Series(labels, dtype="category"), ["no", "yes"]),
    "pandas category of booleans": (lambda labels: pd.Series(labels, dtype="category"), [False, True]),
    "pandas category of Int64": (lambda labels: pd.Series(labels, dtype="Int64").astype("category"), HUGE),
    "pandas Categorical": (pd.Categorical, [False, True]),
    "pandas Index": (lambda labels: pd.Index(labels, dtype="Int64"), HUGE),
    "polars Boolean": (lambda labels: pl.Series(labels, dtype=pl.Boolean), [False, True]),
    "polars Int64": (lambda labels: pl.Series(labels, dtype=pl.Int64), HUGE),
    "polars UInt8": (lambda labels: pl.Series(labels, dtype=pl.UInt8), [0, 1]),
    "polars String": (lambda labels: pl.Series(labels, dtype=pl.String), ["no", "yes"]),
    "polars Categorical": (lambda labels: pl.Series(labels, dtype=pl.Categorical), ["no", "yes"]),
    "polars Enum": (lambda labels: pl.Series(labels, dtype=pl.Enum(["yes", "no"])), ["no", "yes"]),
    "Arrow booleans": (pa.array, [False, True]),
    "Arrow integers": (pa.array, HUGE),
    "Arrow text in chunks": (lambda labels: pa.chunked_array([labels[:9], labels[9:]], pa.string()), ["no", "yes"]),
    "Arrow dictionary": (lambda labels: pa.array(labels, pa.string()).dictionary_encode(), ["no", "yes"]),
}
every_column = pytest.mark.parametrize("column", COLUMNS)
X, CODES = make_classification(
    n_samples=90, n_features=4, n_informative=3, n_redundant=0, class_sep=0.7, flip_y=0.15, random_state=3
)


@cache
def plain_model(position):
    """An estimator fitted to 0 and 1, by its position in the list: what every other label must agree with."""
    return clone(ESTIMATORS[position]).fit(X, CODES)


@every_column
@every_estimator
def test_labels_are_what_the_column_holds(model, column):
    make, classes = COLUMNS[column]
    y = make([classes[code] for code in CODES])
    fitted, plain = clone(model).fit(X, y), plain_model(ESTIMATORS.index(model))
    assert fitted.classes_.tolist() == classes
    assert {type(label) for label in fitted.classes_.tolist()} == {type(classes[0])}
    np.testing.assert_allclose(fitted.decision_function(X), plain.decision_function(X))
    reject_label = getattr(fitted, "reject_label_", None)  # a ranker has no reject option
    names = {0: classes[0], 1: classes[1], -1: reject_label}
    assert fitted.predict(X).tolist() == [names[answer] for answer in plain.predict(X).tolist()]
    assert fitted.score(X, y) == pytest.approx(plain.score(X, CODES))


@pytest.mark.parametrize("column", [name for name in COLUMNS if name not in ("NumPy integers", "NumPy StringDType")])
@every_estimator
def test_a_missing_label_is_refused_in_every_column(model, column):
    make, classes = COLUMNS[column]
    labels = [classes[code] for code in CODES]
    if column == "objects of NumPy integers":
        make = COLUMNS["objects of numbers"][0]
    with pytest.raises(ValueError, match=r"y holds missing values \(NaN, NA or None\): every case needs"):
        clone(model).fit(X, make([*labels[:5], None, *labels[6:]]))


@every_column
def test_folds_take_every_column(column):
    make, classes = COLUMNS[column]
    decisions = cross_val_decide(ThresholdRejectClassifier(LogisticRegression()), X, make([classes[c] for c in CODES]))
    assert decisions.classes.tolist() == classes
    assert set(decisions.forced.tolist()) == set(classes)


@every_estimator
def test_a_frame_of_one_column_is_a_column(model):
    y = pd.DataFrame({"outcome": pd.Series([HUGE[code] for code in CODES], dtype="Int64")})
    with pytest.warns(UserWarning, match="column-vector"):
        fitted = clone(model).fit(X, y)
    assert fitted.classes_.tolist() == HUGE


OTHER_LABELS = {
    "datetime64": np.array(["2020-02-08", "2021-02-08"], dtype="M8[ns]"),
    "timedelta64": np.array([1, 2], dtype="m8[s]"),
    "pandas dates": pd.Series(pd.to_datetime(["2020-02-08", "2021-02-08"])),
    "zoned dates": pd.Series(pd.to_datetime(["2020-02-08", "2021-02-08"]).tz_localize("UTC")),
    "date objects": np.array([datetime.date(2020, 2, 8), datetime.date(2021, 2, 8)], dtype=object),
    "intervals": pd.Series(pd.cut([1.0, 2.0], 2)),
    "bytes": np.array([b"no", b"yes"]),
}


@pytest.mark.parametrize("kind", OTHER_LABELS)
@every_estimator
def test_dates_and_other_objects_are_no_labels(model, kind):
    classes = OTHER_LABELS[kind]
    y = classes.iloc[CODES] if isinstance(classes, pd.Series) else classes[CODES]
    with pytest.raises(ValueError, match=r"y holds .+ \(\w+\), but labels must be numbers, booleans or text"):
        clone(model).fit(X, y)
