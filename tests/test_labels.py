import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from recuse import ThresholdRejectClassifier
from recuse.labels import encode, label_space
from recuse.metrics import coverage_score


@pytest.fixture(autouse=True)
def _quiet_about_booleans():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The labels are booleans")
        yield


def test_family_decides_label_and_type(family):
    classes, reject_label, dtype = family
    space = label_space(classes)
    assert space.reject_label == reject_label
    assert space.outputs.dtype == dtype
    assert space.outputs.tolist() == [*classes.tolist(), reject_label]
    assert space.classes is classes


def test_codes_go_there_and_back(family):
    classes, _, _ = family
    space = label_space(classes)
    codes = np.array([0, -1, 1, 1, -1])
    assert space.encode(space.decode(codes)).tolist() == codes.tolist()
    assert space.encode(classes).tolist() == [0, 1]


def test_type_does_not_depend_on_the_batch(family):
    space = label_space(family[0])
    assert space.decode(np.array([0])).dtype == space.decode(np.array([-1])).dtype


def test_own_label_keeps_every_value_whole():
    assert label_space(np.array([0, 1]), "a person").outputs.tolist() == [0, 1, "a person"]
    assert label_space(np.array(["no", "yes"]), -1).outputs.tolist() == ["no", "yes", -1]
    assert label_space(np.array(["n", "y"]), "refer to a specialist").outputs[-1] == "refer to a specialist"
    assert label_space(np.array([0, 1], dtype=np.int8), 1000).outputs.tolist() == [0, 1, 1000]
    assert label_space(np.array([0, 1]), 0.5).outputs.tolist() == [0, 1, 0.5]


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (np.array([0, 1], dtype=np.float32), 0.1),
        (np.array([0, 1], dtype=np.float32), 2**25 + 1),
        (np.array([0, 1]), 2**70),
        (np.array([3, 2**63 + 1], dtype=np.uint64), -1),
    ],
)
def test_no_label_loses_a_digit(classes, label):
    outputs = label_space(classes, label).outputs
    assert outputs.tolist() == [*classes.tolist(), label]


@pytest.mark.parametrize("label", [[1], np.array([1, 2]), {"a"}, object()])
def test_label_must_be_one_value(label):
    with pytest.raises(ValueError, match="reject_label must be a number or a text; got"):
        label_space(np.array([0, 1]), label)


NULLABLE = {
    "boolean": ([False, True], -1, "int8"),
    "bool[pyarrow]": ([False, True], -1, "int8"),
    "Int64": ([0, 1], -1, "int64"),
    "Int8": ([-1, 1], 0, "int64"),
    "UInt8": ([0, 1], -1, "int64"),
    "int64[pyarrow]": ([0, 1], -1, "int64"),
    "Float64": ([0.0, 1.0], -1.0, "float64"),
    "string": (["n", "y"], "[abstain]", "object"),
    "str": (["n", "y"], "[abstain]", "object"),
    "category": (["n", "y"], "[abstain]", "object"),
}


@pytest.mark.parametrize("dtype", NULLABLE)
def test_columns_of_pandas_are_what_they_hold(dtype, overlapping):
    X, y = overlapping
    classes, reject_label, answers = NULLABLE[dtype]
    column = pd.Series(classes).astype(dtype)[y].reset_index(drop=True)
    fitted = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, column)
    predicted = fitted.predict(X)
    assert fitted.classes_.tolist() == classes
    assert fitted.reject_label_ == reject_label
    assert predicted.dtype.kind == np.dtype(answers).kind
    assert 0 < coverage_score(column, fitted.decide(X)) < 1
    assert fitted.score(X, column) > 0.5
    missing = column.astype(object).where(np.arange(len(y)) > 0, None).astype("str" if dtype == "category" else dtype)
    if missing.isna().any():
        with pytest.raises(ValueError, match="y holds missing values"):
            fitted.fit(X, missing)


def test_variable_width_text_and_objects_of_numbers(overlapping):
    X, y = overlapping
    for classes in (np.array(["no", "yes"], dtype=np.dtypes.StringDType()), np.array([0, 1], dtype=object)):
        fitted = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, classes[y])
        assert set(fitted.predict(X).tolist()) == {*classes.tolist(), fitted.reject_label_}


def test_smallest_integer_has_room_below():
    assert label_space(np.array([-128, -1, 0], dtype=np.int8)).outputs.tolist() == [-128, -1, 0, -129]


@pytest.mark.parametrize(
    ("classes", "label"),
    [([0, 1], 1), ([0, 1], True), (["no", "[abstain]"], "auto"), (["a", "b"], "b"), ([False, True], 0)],
)
def test_label_equal_to_a_class_is_refused(classes, label):
    with pytest.raises(ValueError, match=r"is one of the classes .* choose a label that is not a class"):
        label_space(np.array(classes), label)


@pytest.mark.parametrize("label", [None, float("nan")])
def test_label_must_survive_a_file(label):
    with pytest.raises(ValueError, match="reject_label must be a number or a text"):
        label_space(np.array([0, 1]), label)


def test_unknown_values_are_refused():
    with pytest.raises(ValueError, match=r"y holds \[2\], which is neither a class \[0, 1\] nor the reject label -1"):
        label_space(np.array([0, 1])).encode([0, 2, 2])


def test_encode_mixes_of_types():
    assert encode(np.array([True, False]), np.array([0, 1])).tolist() == [1, 0]
    assert encode(np.array([1.0, 0.5]), np.array([0, 1])).tolist() == [1, -1]
    assert encode(np.array(["1"]), np.array([0, 1])).tolist() == [-1]
    assert encode(np.array(["a", "c"], dtype=object), np.array(["a", "b"])).tolist() == [0, -1]


def test_booleans_warn_once():
    with pytest.warns(UserWarning, match="labels are booleans") as caught:
        label_space(np.array([False, True]))
    assert len(caught) == 1
