"""Codes such as postcodes: they keep their zeros where they are shown, and are numbers to models, which is said."""

import logging

import numpy as np
import pandas as pd
import pytest

from recuse.tables import (
    TableColumns,
    check_cases,
    check_table,
    read_chunks,
    read_table,
    read_with_writings,
    table_hints,
)

ZIPS = ["01587", "97056", "88159", "45161", "10115"]


def write(path, codes, sep=";", amount="1,5"):
    lines = [sep.join(("zip", "amount", "n")), *(sep.join((code, amount, f"{i}")) for i, code in enumerate(codes))]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(("sep", "amount"), [(";", "1,5"), (",", "1.5")])
@pytest.mark.parametrize("gap", [[], [""]])
def test_codes_keep_their_zeros_in_every_dialect(tmp_path, caplog, sep, amount, gap):
    caplog.set_level(logging.INFO, "recuse.tables")
    frame, writings = read_with_writings(write(tmp_path / "a.csv", ZIPS + gap, sep, amount))
    assert frame["zip"].dropna().tolist() == ZIPS
    assert "zip" not in writings
    assert frame["amount"].tolist() == [1.5] * len(frame)
    assert frame["n"].tolist() == list(range(len(frame)))
    said = "zeros in front in column 'zip': '01587' is shown as it is written, and models take it as a number"
    assert said in caplog.text


@pytest.mark.parametrize("codes", [["97056", "88159"], ["01587", "970"], ["0", "1"], ["05.5", "10.5"], ["-01", "-10"]])
def test_what_has_no_zeros_in_front_or_other_lengths_is_a_number(tmp_path, codes):
    assert pd.api.types.is_numeric_dtype(read_table(write(tmp_path / "a.csv", codes, ",", "1.5"))["zip"])


def test_a_zero_far_down_is_found(tmp_path):
    codes = [f"{number}" for number in range(99999, 97000, -1)] + ["00501"]
    assert read_table(write(tmp_path / "a.csv", codes, ",", "1.5"))["zip"].tolist() == codes
    codes[-1] = "501"
    assert read_table(write(tmp_path / "a.csv", codes, ",", "1.5"))["zip"].tolist() == [int(code) for code in codes]


def test_a_model_for_which_they_were_numbers_reads_them_as_it_did(tmp_path):
    path = write(tmp_path / "a.csv", ZIPS)
    older = TableColumns().fit(pd.DataFrame({"zip": [1587, 97056], "amount": [1.5, 2.5]}))
    older.remember_writings({"zip": "1.234,5", "amount": "1.234,5"})
    (chunk,) = read_chunks(path, text_columns=older.text_columns)
    assert older.transform(chunk)["zip"].tolist() == [1587, 97056, 88159, 45161, 10115]
    assert older.transform(read_table(path))["zip"].tolist() == [1587, 97056, 88159, 45161, 10115]
    plain = TableColumns().fit(pd.DataFrame({"zip": [1587, 97056]}))
    (chunk,) = read_chunks(write(tmp_path / "b.csv", ZIPS, ",", "1.5"), text_columns=plain.text_columns)
    assert plain.transform(chunk)["zip"].tolist() == [1587, 97056, 88159, 45161, 10115]


@pytest.mark.parametrize(("sep", "amount"), [(";", "1,5"), (",", "1.5")])
def test_to_a_model_they_are_numbers(tmp_path, sep, amount):
    path = write(tmp_path / "a.csv", ZIPS, sep, amount)
    frame, writings = read_with_writings(path)
    columns = TableColumns().fit(frame)
    columns.remember_writings(writings)
    assert columns.kinds_ == ["number", "number", "number"]
    (chunk,) = read_chunks(path, text_columns=columns.text_columns)
    for table in (frame, chunk):
        assert columns.transform(table)["zip"].tolist() == [1587, 97056, 88159, 45161, 10115]
    with pytest.raises(ValueError, match="holds 'D-01587' in row 1, where the model was fitted with numbers"):
        columns.transform(chunk.assign(zip="D-01587"))


def test_many_codes_are_pointed_out_with_what_helps():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": [f"{code:05d}" for code in rng.integers(1000, 99999, 200)], "x": rng.normal(size=200)})
    (hint,) = table_hints(check_cases(frame.assign(y=rng.permutation(np.arange(200) % 2)), "y"))
    assert hint.startswith("column 'zip' holds digits with zeros in front, such as '0")
    assert "keep the first digits only, write a letter in front to have categories, as in C0" in hint
    assert "--drop zip" in hint
    facts = check_table(frame)
    assert facts.findings == [hint]
    assert (facts.columns[0].kind, facts.columns[0].written[0], len(facts.columns[0].written)) == ("number", "0", 5)
    few = check_table(frame.assign(zip=frame["zip"].str[:1] + "0")).findings
    assert "postcodes are, write a letter in front to have categories, as in C00, or" in few[0]


def test_codes_can_be_times():
    frame = pd.DataFrame({"month": ["02", "01", "12"] * 20, "x": np.arange(60.0) % 7, "y": np.arange(60) % 2})
    assert check_cases(frame, "y", time="month").times.tolist() == [1, 0, 2] * 20
