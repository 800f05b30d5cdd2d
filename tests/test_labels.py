import warnings

import numpy as np
import pytest

from recuse.labels import encode, label_space


@pytest.fixture(autouse=True)
def _quiet_about_booleans():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The labels are booleans")
        yield


def test_family_decides_label_and_type(family):
    classes, reject_label, kind = family
    space = label_space(classes)
    assert space.reject_label == reject_label
    assert space.outputs.dtype.kind == kind
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
