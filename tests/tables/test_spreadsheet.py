"""Text that a spreadsheet would run is marked as text, comes back as it was, and nothing else changes."""

import io

import pandas as pd
import pytest

from recuse.tables import restored, to_csv

RUN = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-cmd|' /C calc'!A0", "+49 170", "-5 to 0", "==", "-e"]
RUN += ["\n=1+1", " =1+1", "\u00a0@SUM(A1)", " \n -1+1", "\n=1\n"]
LEFT = [
    "",
    "a=1",
    "-1",
    "+1.5",
    "-.5",
    "-1e-3",
    "+2.E+4",
    "+",
    "-",
    "=",
    "@",
    "'s Hertogenbosch",
    "[abstain]",
    "'",
    "''",
    " ",
    " -1.5",
    "\n1",
    " -",
    "-2 ",
    " a=1",
]


def read(content):
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, lineterminator="\n")


@pytest.mark.parametrize("text", RUN)
@pytest.mark.parametrize("before", ["", "'", "''"])
def test_formulas_are_marked_and_come_back(text, before):
    frame = pd.DataFrame({"label": [before + text, "plain"]})
    written = read(to_csv(frame))
    assert written["label"].tolist() == ["'" + before + text, "plain"]
    assert restored(written)["label"].tolist() == frame["label"].tolist()
    assert read(to_csv(frame, raw=True))["label"].tolist() == frame["label"].tolist()


@pytest.mark.parametrize("text", LEFT)
def test_everything_else_stays_as_it_is(text):
    frame = pd.DataFrame({"label": [text, "plain"]})
    assert to_csv(frame) == to_csv(frame, raw=True)
    assert restored(frame)["label"].tolist() == frame["label"].tolist()


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_every_type_of_text_is_seen(dtype):
    frame = pd.DataFrame({"label": pd.Series(["=1", None, "x"], dtype=dtype)})
    assert b"'=1\n" in to_csv(frame)
    assert to_csv(frame).count(b"\n") == 4


def test_numbers_stay_numbers():
    frame = pd.DataFrame({"h": [-1.5, 2.0], "label": pd.Series([-1, "=x"], dtype=object), "yes": [True, False]})
    assert to_csv(frame) == b"h,label,yes\n-1.5,-1,True\n2.0,'=x,False\n"
    assert frame["label"].tolist() == [-1, "=x"]
