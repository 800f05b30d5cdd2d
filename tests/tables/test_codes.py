"""Codes such as postcodes, whose zeros in front matter: text, and said so."""

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
def test_codes_are_text_in_every_dialect(tmp_path, caplog, sep, amount, gap):
    caplog.set_level(logging.INFO, "recuse.tables")
    frame, writings = read_with_writings(write(tmp_path / "a.csv", ZIPS + gap, sep, amount))
    assert frame["zip"].dropna().tolist() == ZIPS
    assert "zip" not in writings
    assert frame["amount"].tolist() == [1.5] * len(frame)
    assert frame["n"].tolist() == list(range(len(frame)))
    assert "codes in column 'zip': '01587' is read as text, since it begins with 0; if these are amounts" in caplog.text


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


def test_a_model_keeps_their_zeros(tmp_path):
    path = write(tmp_path / "a.csv", ZIPS, ",", "1.5")
    columns = TableColumns().fit(read_table(path))
    assert columns.kinds_ == ["text", "number", "number"]
    (chunk,) = read_chunks(path, text_columns=columns.text_columns)
    assert columns.transform(chunk)["zip"].tolist() == ZIPS


def test_many_codes_are_pointed_out_with_what_helps():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": [f"{code:05d}" for code in rng.integers(1000, 99999, 200)], "x": rng.normal(size=200)})
    (hint,) = table_hints(check_cases(frame.assign(y=rng.permutation(np.arange(200) % 2)), "y"))
    assert hint.startswith("column 'zip' holds codes such as '0")
    assert "keep the first digits only" in hint
    assert "--drop zip" in hint
    assert any("keep the first digits" in finding for finding in check_table(frame).findings)
    assert check_table(frame.assign(zip=frame["zip"].str[:1] + "0")).findings == []


def test_codes_can_be_times():
    frame = pd.DataFrame({"month": ["02", "01", "12"] * 20, "x": np.arange(60.0) % 7, "y": np.arange(60) % 2})
    assert check_cases(frame, "y", time="month").times.tolist() == [1, 0, 2] * 20
