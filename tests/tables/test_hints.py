"""Hints about what would make a comparison look better than it is."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import check_cases, table_hints


def visits(people=80, per_person=5, name="patient_id", seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, people * per_person))
    frame = pd.DataFrame({name: np.repeat(np.arange(people), per_person), "x": x, "z": z})
    return frame.assign(ill=rng.permutation(np.arange(len(frame)) % 2))


@pytest.mark.parametrize(
    "name",
    ["patient_id", "PatientID", "patientId", "Patient ID", "patient", "id", "customer-no", "user_name", "subject"],
)
def test_people_in_several_rows_are_pointed_out(name):
    (hint,) = table_hints(check_cases(visits(name=name), "ill"))
    assert "80 different ones in 400 rows" in hint
    assert f"groups={name!r}" in hint
    assert table_hints(check_cases(visits(name=name), "ill", groups=name)) == []


def test_categories_and_numbers_are_not_people():
    frame = visits()
    for name, values in {
        "region_id": frame["patient_id"] % 5,  # few values: a category
        "visits": frame["patient_id"],  # not named like an identifier
        "valid": frame["patient_id"],
        "user": frame["x"],  # a number
    }.items():
        assert table_hints(check_cases(frame.drop(columns="patient_id").assign(**{name: values}), "ill")) == []
    large = pd.concat([frame] * 12).assign(x=np.random.default_rng(1).normal(size=4800))  # 60 rows of each
    assert table_hints(check_cases(large, "ill")) == []


def test_copies_of_rows_are_counted():
    frame = visits().drop(columns="patient_id")
    assert table_hints(check_cases(frame, "ill")) == []
    (hint,) = table_hints(check_cases(pd.concat([frame, frame[:7]]), "ill"))
    assert hint.startswith("7 rows repeat an earlier row in every column")
    (hint,) = table_hints(check_cases(pd.concat([frame, frame[:1]]), "ill"))
    assert hint.startswith("1 row repeats")
    other_outcome = frame[:7].assign(ill=1 - frame["ill"][:7])
    assert table_hints(check_cases(pd.concat([frame, other_outcome]), "ill")) == []


def test_copies_inside_a_group_do_no_harm():
    frame = visits()
    inside = pd.concat([frame, frame[:7]])
    assert table_hints(check_cases(inside, "ill", groups="patient_id")) == []
    across = pd.concat([frame, frame[:7].assign(patient_id=99)])
    (hint,) = table_hints(check_cases(across, "ill", groups="patient_id"))
    assert hint.startswith("7 rows repeat")


def test_equal_rows_of_few_values_are_chance():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 200), "b": rng.integers(0, 4, 200), "y": np.arange(200) % 2})
    assert frame.duplicated().sum() > 100
    assert table_hints(check_cases(frame, "y")) == []
