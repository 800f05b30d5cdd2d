"""Hints about what would make a comparison look better than it is."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import check_cases, identifier_hints, table_hints


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


def with_marks(column, *marks):
    """Each of the marks in one cell of ten."""
    return [next((mark for place, mark in enumerate(marks) if row % 10 == place), value)
            for row, value in enumerate(column)]  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        with_marks([f"{row / 7:.2f}".replace(".", ",") for row in range(120)], "n.k."),
        with_marks([row / 7 for row in range(120)], "unknown", "-"),  # of a workbook
        with_marks([f"{row % 28 + 1:02d}.03.2024" for row in range(120)], "?"),
        with_marks(pd.date_range("2020-01-01", periods=120).astype(str), "never"),
    ],
)
def test_words_among_numbers_and_dates_are_pointed_out(values):
    frame = pd.DataFrame({"since": pd.Series(values, dtype=object), "y": [0, 1] * 60})
    (hint,) = [text for text in table_hints(check_cases(frame, "y")) if "--missing" in text]
    words = [value for value in dict.fromkeys(values) if isinstance(value, str) and not any(map(str.isdigit, value))]
    assert f"missing={words!r}" in hint


@pytest.mark.parametrize(
    "values",
    [
        [f"{row} kg" for row in range(120)],  # every cell has a word
        with_marks([f"A{row}" for row in range(120)], "none"),  # no numbers
        [f"{row}.03.2024" if row < 3 else "never" for row in range(120)],  # few others
        with_marks([str(row) for row in range(120)], "a", "b", "c", "d"),  # words of their own
        ["low", "high"] * 60,
    ],
)
def test_text_is_not_taken_for_numbers_with_marks(values):
    frame = pd.DataFrame({"size": values, "y": [0, 1] * 60})
    assert [text for text in table_hints(check_cases(frame, "y")) if "--missing" in text] == []


def n_identifiers(**columns):
    return len(identifier_hints(pd.DataFrame(columns)))


def test_numbers_given_to_rows_are_identifiers_though_rows_are_left_out():
    rng = np.random.default_rng(0)
    running = np.sort(rng.choice(np.arange(10_023_411, 10_024_911), 1371, replace=False))
    assert n_identifiers(customer=running) == 1
    assert n_identifiers(customer=rng.choice(90_000_000, 1371, replace=False) + 10_000_000) == 1
    assert n_identifiers(customer=[f"{code:08d}" for code in rng.choice(90_000_000, 200, replace=False)]) == 1
    short = rng.choice(900_000, 200, replace=False) + 100_000
    names = ("Vertragsnr", "Kundennummer", "account_no", "amount")
    assert [n_identifiers(**{name: short}) for name in names] == [1, 1, 1, 0]


def test_amounts_are_no_identifiers_though_all_are_different():
    rng = np.random.default_rng(0)
    incomes = np.unique(np.exp(rng.normal(10.6, 0.5, 20_000)).astype(int))
    large = rng.choice(np.arange(1000, 9999), 500, replace=False) * 10_000
    assert n_identifiers(income=rng.permutation(incomes)[:1500]) == 0
    assert n_identifiers(won=large) == n_identifiers(few=rng.choice(70_000, 60, replace=False)) == 0
    spread = np.unique(np.exp(rng.normal(17, 1, 500)).astype(int))  # eight digits, more and less
    assert n_identifiers(revenue=spread, rate=rng.normal(size=len(spread))) == 0
