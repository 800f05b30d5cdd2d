"""The command line with five outcomes: prices from a file, a run, a model, answers to new cases, and what they cost."""

import io
import json

import pandas as pd
import pytest

from tests.cli.test_commands import call
from tests.departments import NAMES, PRICES, price_table, tickets

__all__ = ["call"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    path = tmp_path_factory.mktemp("desk")
    table = tickets(200).drop(columns=["client", "day", "today"])
    table[:150].to_csv(path / "tickets.csv", index=False)
    table[150:].assign(score="kept").to_csv(path / "new.csv", index=False)
    (path / "prices.csv").write_text(PRICES)
    return path


def test_a_run_a_model_and_its_answers(desk, call, tmp_path):
    given = ["-t", "department", "--costs", desk / "prices.csv"]
    small = ["--methods", "logistic-chow", "--cv", "2", "--repeats", "1", "--n-jobs", "1", "-o", tmp_path / "run"]
    code, out, err = call("compare", desk / "tickets.csv", *given, *small, "--json")
    assert code == 0, err
    assert err.startswith("recuse: tickets.csv: department is taken as 5 outcomes in 150 cases, ")
    facts = json.loads(out)
    assert [item["outcome"] for item in facts["outcomes"]] == list(NAMES)
    assert sum(map(sum, facts["matrix"])) == 150
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["data"]["positive"] is None
    assert run["arguments"]["costs"]["errors"]["legal"]["support"] == 12.0
    model = tmp_path / "m.skops"
    code, _, err = call("fit", desk / "tickets.csv", *given, "-m", "logistic-chow", "-o", model)
    assert code == 0, err

    code, out, err = call("predict", model, desk / "new.csv", "--keep", "department,score", "--capacity", "5")
    assert code == 0, err
    answers = pd.read_csv(io.StringIO(out))
    assert list(answers.columns) == [
        *("case", "department", "score (table)", "decision", "kind", "forced", "second", "score", "second_score"),
        *("h", "r", "reason", "model_digest", "review"),
    ]
    assert (answers["decision"] == answers["forced"].where(answers["kind"] == "accept", "[abstain]")).all()
    assert answers["review"].count() == min(5, (answers["kind"] != "accept").sum())
    assert (answers["forced"] != answers["second"]).all()

    code, out, err = call("evaluate", model, desk / "new.csv", "-t", "department", "--json")
    assert code == 0, err
    found, prices = json.loads(out), price_table(desk / "prices.csv")
    answered = answers["decision"].replace("[abstain]", "reject")
    paid = [prices.loc[truth, answer] for truth, answer in zip(answers["department"], answered, strict=True)]
    assert found["cost"]["value"] == pytest.approx(sum(paid) / 50)
    assert found["review_all"] == pytest.approx(prices["reject"][answers["department"]].mean())
    assert sum(item["answered"] for item in found["outcomes"]) == (answers["kind"] == "accept").sum()
    by_outcome = {item["outcome"]: item for item in found["outcomes"]}
    for name, rows in answers.groupby("department"):
        wrong = (rows["kind"] == "accept") & (rows["decision"] != name)
        assert (by_outcome[name]["cases"], by_outcome[name]["wrong"]) == (len(rows), wrong.sum())
    lines = call("evaluate", model, desk / "new.csv", "-t", "department")[1].splitlines()
    assert lines[0] == "50 cases of 5 outcomes"
    assert len(lines) == 11

    code, out, err = call("inspect", model, "--json")
    facts = json.loads(out)
    assert facts["classes"] == list(NAMES)
    assert facts["prices"]["legal"] == {name: prices.loc["legal", name] for name in [*NAMES, "reject"]}
    assert facts["positive"] is None
    assert "prices       legal: billing: 10.0, legal: 0.0" in call("inspect", model)[1]
    assert call("inspect", model, "--report", tmp_path / "model.html")[0] == 0
    assert "support answered to a case of legal" in (tmp_path / "model.html").read_text()


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.parquet"])
def test_other_files_of_answers(desk, call, tmp_path, name):
    model = tmp_path / "m.skops"
    given = ["-t", "department", "--reject", "0.2", "-m", "logistic-chow"]
    assert call("fit", desk / "tickets.csv", *given, "-o", model)[0] == 0
    code, _, err = call("predict", model, desk / "new.csv", "-o", tmp_path / name, "--no-reasons")
    assert code == 0, err
    read = pd.read_parquet if name.endswith("parquet") else lambda path: pd.read_json(path, lines=True)
    assert set(read(tmp_path / name)["second"]) <= set(NAMES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fn", "5"], "holds 5 different outcomes"),
        (["--reject-positive", "0.5"], "holds 5 different outcomes"),
        (["--reject", "0.9"], "Rejecting never pays"),
        (["--costs", "prices.csv", "--fp", "2"], "fp=2 is a price of two outcomes, and prices.csv prices every one"),
        (["--costs", "prices.csv", "--reject", "0.2"], "reject=0.2 is given, and prices.csv has a column 'reject'"),
        (["--costs", "odd.csv"], "odd.csv: row 'legal', column 'sales' is empty"),
        (["--costs", "nowhere.csv"], "does not exist"),
        (["--costs", "prices.csv", "--positive", "legal"], "leave out --positive"),
        (["--methods", "logistic-chow", "--promise", "misses<=0.1"], "knows a positive class"),
    ],
)
def test_one_clear_line_for_what_is_refused(desk, call, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text(PRICES)
    (tmp_path / "odd.csv").write_text(PRICES.replace("10,,10,12", "10,,,12"))
    code, out, err = call("compare", desk / "tickets.csv", "-t", "department", *options, "--cv", "2", "-o", "out")
    assert code == 1
    assert out == ""
    *_, last = err.strip().splitlines()
    assert last.startswith("recuse: ")
    assert message in last
    if not {"--positive", "--promise"} & set(options):  # before which it is said how the outcomes are taken
        assert len(err.strip().splitlines()) == 1
