"""Promises of `fit` and `compare`: of the model fitted at the end, in the report and in its file."""

import json
import re

import pandas as pd
import pytest

import recuse
from recuse.comparison.printing import fitted_sentences, leaderboard_json, print_leaderboard
from recuse.datasets import make_loans
from recuse.guarantees import NoGuaranteeWarning
from recuse.guarantees.exact import rows_needed
from recuse.guarantees.record import Shown, hint
from recuse.guarantees.risks import Tally
from recuse.guarantees.splitting import split_rows
from recuse.inspecting import inspect_model
from recuse.predicting import predict_table

LOANS = make_loans(900, random_state=0)[["late_payments", "instalment_share", "income", "outcome"]]
PRICES = recuse.Costs(fp=800, fn=2000, reject=450)  # most cases are answered
ARGUMENTS = {"costs": PRICES, "positive": "default"}


def test_fit_promises_and_the_file_says_so(tmp_path):
    model = recuse.fit(LOANS, "outcome", method="logistic-chow", promise="error<=0.6, cost<=900", **ARGUMENTS)
    last = model[-1]
    assert last.guarantee_.holds
    assert (last.guarantee_.n_calibration, last.guarantee_.confidence) == (216, 0.95)
    recuse.save(model, tmp_path / "m.skops")
    facts = inspect_model(tmp_path / "m.skops")
    assert facts["promise"] == str(last.guarantee_)
    assert facts["promise"].startswith("With confidence 0.95 the error rate on accepted cases is at most 0.6: ")
    assert facts["method"] == "ThresholdRejectClassifier"
    assert fitted_sentences(model) == [facts["promise"]]
    loaded = recuse.load(tmp_path / "m.skops")
    assert recuse.decide(loaded, LOANS) == recuse.decide(model, LOANS)


def test_compare_promises_of_the_model_at_the_end(tmp_path, capsys):
    promise = {"promise": "error<=0.6", "confidence": 0.9}
    result = recuse.compare(
        LOANS, "outcome", methods=["logistic-chow"], cv=3, repeats=1, out=tmp_path, **promise, **ARGUMENTS
    )
    said = json.loads(leaderboard_json(result, tmp_path))["promise"]
    print_leaderboard(result, tmp_path)
    assert f"Promise: {said['words']}" in capsys.readouterr().out.splitlines()
    assert said["words"] == str(recuse.load(tmp_path / "model.skops")[-1].guarantee_)
    assert said["accepted"] <= said["before"] <= said["tested"]
    assert (result.arguments.promise, result.arguments.confidence) == ("error<=0.6", 0.9)


def test_fit_promises_in_every_group_of_a_column():
    table = make_loans(900, random_state=0)[["late_payments", "instalment_share", "income", "outcome", "region"]]
    groups = {"promise": "error<=0.9", "promise_groups": "region"}
    model = recuse.fit(table, "outcome", method="logistic-chow", drop=["region"], **groups, **ARGUMENTS)
    assert {shown.group for shown in model[-1].guarantee_.shown} == set(table["region"])
    assert "region" not in model[0].columns_
    table.loc[7, "region"] = "an island"
    with pytest.raises(ValueError, match=r"no case of \['an island'\] is among the 270 that test the promise"):
        recuse.fit(table, "outcome", method="logistic-chow", **groups, **ARGUMENTS)


@pytest.mark.parametrize(
    ("row", "message"),
    [(None, "is empty in 1 of 300 rows.*leave these rows out"), ("an island", "put small groups together")],
)
def test_groups_that_cannot_be_promised_are_refused_before_the_comparison(row, message):
    table = make_loans(300, random_state=0)[["late_payments", "income", "outcome", "region"]]
    fitting, _ = split_rows(300, 0.3, fitted=False, random_state=0)
    table.loc[fitting[0], "region"] = row
    fits = []
    with pytest.raises(ValueError, match=f"promise_groups='region'.*{message}"):
        recuse.compare(
            table, "outcome", methods=["logistic-chow"], promise="error<=0.9", promise_groups="region",
            progress=lambda *said: fits.append(said), **ARGUMENTS,
        )  # fmt: skip
    assert not fits


def test_a_promise_that_fails_is_said(tmp_path):
    with pytest.warns(NoGuaranteeWarning, match="error<=0.0001.*could show"):
        model = recuse.fit(LOANS, "outcome", method="logistic-chow", promise="error<=0.0001", **ARGUMENTS)
    assert not recuse.decide(model, LOANS).accepted.any()


def test_rows_that_would_be_enough_are_rows_of_the_table():
    """Not of the part that is held out of the fit."""
    with pytest.warns(NoGuaranteeWarning, match=r"1 - 0\.05 / k") as said:
        model = recuse.fit(LOANS, "outcome", method="logistic-chow", promise="error<=0.15", **ARGUMENTS)
    assert not model[-1].guarantee_.holds
    wrong, seen, rows = re.search(
        r"(\d+) wrong among (\d+) accepted is what.*about (\d+) rows", str(said[0].message)
    ).groups()
    needed = rows_needed(Tally(int(seen), (int(wrong),)), 0.15, 0.05) / int(seen)
    assert int(rows) == pytest.approx(len(LOANS) * needed, rel=0.05)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"confidence": 0.9}, "confidence=0.9 is that of a promise: give promise as well"),
        ({"promise_groups": "income"}, "promise_groups='income' is that of a promise: give promise as well"),
        ({"promise": 0.1, "promise_groups": "incme"}, "no column 'incme'"),
        ({"promise": "eror<=0.1"}, "did you mean 'error'"),
        ({"promise": 0.1, "groups": "income"}, "leave out groups"),
        ({"promise": 0.1, "time": "income"}, "leave out time"),
        ({"promise": 0.1, "cluster": "local:1"}, "promise is not made on a cluster"),
    ],
)
def test_promises_that_cannot_be_made_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        recuse.fit(LOANS, "outcome", method="logistic-chow", **ARGUMENTS, **given)


def test_a_failed_promise_is_the_last_line_and_answers_say_why_there_are_none(tmp_path, capsys):
    """Of a comparison, of a fit, and of the answers of the model: it rejects every case, and what would help."""
    options = {"methods": ["logistic-chow"], "cv": 2, "repeats": 1, "promise": "error<=0.0001", **ARGUMENTS}
    with pytest.warns(NoGuaranteeWarning):
        result = recuse.compare(LOANS, "outcome", out=tmp_path, **options)
    capsys.readouterr()
    print_leaderboard(result, tmp_path)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("model.skops answers no case and rejects every one, because nothing can be promised.")
    assert "guarantee='error<=0.0001' cannot be shown" in last
    assert last.endswith("For answers without a promise, leave it out.")
    assert "model.skops answers no case" in (tmp_path / "report.html").read_text(encoding="utf-8")
    model = recuse.load(tmp_path / "model.skops")
    assert fitted_sentences(model)[-1].startswith("The model answers no case and rejects every one")
    LOANS[:50].to_csv(tmp_path / "new.csv", index=False)
    with pytest.warns(UserWarning, match="the model answers no case and rejects every one, because nothing"):
        answered = predict_table(model, tmp_path / "new.csv", tmp_path / "answers.csv")
    assert answered.rejected == answered.cases == 50
    answers = pd.read_csv(tmp_path / "answers.csv")
    reasons = answers["reason"][answers["kind"] == "ambiguity"]
    assert reasons.str.startswith("rejected because nothing could be promised of answers").all()


def test_of_a_risk_that_no_case_shows_no_level_is_offered():
    asked = Shown("misses", 0.2, None, 0, 0.0, 1.0)
    said = hint((asked,), 900.0, 40, (asked,))
    assert "no accepted positive cases that would show it. These cases show nothing of it." in said
    assert "misses<=1" not in said
