"""Reasons and workbooks hold numbers as the table writes them, and as numbers."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

import recuse
from recuse.explaining.wording import in_writing, writing_of
from recuse.predicting import predict_table

pytestmark = pytest.mark.filterwarnings("ignore:.*zeros in front")  # the postcode is kept on purpose
GERMAN = {"amount": "1.234,5", "rate": "1.234,5%", "day": "%d.%m.%Y"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("amount", 6162.41, "6.162,4"),
        ("amount", 7000.0, "7.000"),
        ("rate", 0.105, "10,5%"),
        ("day", pd.Timestamp("2024-03-05"), "05.03.2024"),
        ("town", "Ulm, Mitte", "Ulm, Mitte"),
        ("postcode", 97056, "97056"),  # written plainly beside decimal commas
    ],
)
def test_values_are_written_as_in_the_table(name, value, expected):
    assert in_writing(value, writing_of(name, GERMAN)) == expected
    assert writing_of(name, {}) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table as a German office writes it, a comparison of it, and answers in a workbook."""
    path, rng = tmp_path_factory.mktemp("german"), np.random.default_rng(0)
    amount, rate = rng.uniform(1500, 9500, 240), rng.uniform(0.02, 0.14, 240)
    lines = ["nr;postcode;amount;rate;outcome"]
    for number, (a, b) in enumerate(zip(amount, rate, strict=True)):
        bad = a / 4000 + 12 * b + rng.normal(0, 0.6) > 2.3
        money = f"{a:,.2f}".translate(str.maketrans(",.", ".,"))
        percent = f"{100 * b:.1f}%".replace(".", ",")
        lines.append(f"{number:04};{1067 + 400 * number:05};{money};{percent};{'bad' if bad else 'good'}")
    (path / "loans.csv").write_text("\n".join(lines), encoding="utf-8")
    options = {"costs": recuse.Costs(1, 3, 0.3), "positive": "bad", "drop": ["nr", "postcode"]}
    result = recuse.compare(path / "loans.csv", "outcome", methods=["logistic-chow"], cv=2, repeats=1, **options)
    model = recuse.fit(path / "loans.csv", "outcome", method="logistic-chow", **options | {"drop": ["nr"]})
    kept = ["nr", "postcode", "amount", "rate"]
    predict_table(model, path / "loans.csv", path / "answers.xlsx", keep=kept)
    return result, path


def test_reasons_are_in_the_writing_of_the_table(folder):
    result, path = folder
    decisions = result.decisions()
    reasons = decisions["reason"][decisions["decision"] == "[abstain]"]
    assert reasons.str.contains(r"amount = \d\.\d{3}(?:,\d)?\b|rate = \d{1,2}(?:,\d+)?%").any()
    assert not reasons.str.contains(r"rate = 0\.|amount = \d,\d{3}").any()
    answers = pd.read_excel(path / "answers.xlsx")
    reasons = answers["reason"][answers["decision"] == "[abstain]"]
    assert len(reasons) > 0
    assert not reasons.str.contains(r"rate = 0\.|amount = \d,\d{3}").any()


def test_kept_numbers_are_numbers_in_a_workbook_and_postcodes_stay_text(folder):
    sheet = openpyxl.load_workbook(folder[1] / "answers.xlsx").active
    head, first = [cell.value for cell in sheet[1]], dict(zip([c.value for c in sheet[1]], sheet[2], strict=True))
    assert head[:5] == ["case", "nr", "postcode", "amount", "rate"]
    assert isinstance(first["amount"].value, float)
    assert 0.02 <= first["rate"].value <= 0.14
    assert first["rate"].number_format == "0.0##%"
    assert first["postcode"].value == "01067"
    assert first["nr"].value == "0000"
