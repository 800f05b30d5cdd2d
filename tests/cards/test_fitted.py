"""The card of a model file without a run, and what a card of either says first."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import recuse
from recuse.cards import make_card
from recuse.cli import app
from recuse.persistence import saved_digest
from recuse.reviews import ReviewLog
from tests.comparison.conftest import COSTS, mixed_table

from .conftest import records_of
from .test_card import N_QUESTIONS, WATCHED, assert_traced, section_of, texts_of


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("fitted") / "loans.skops"
    model = recuse.fit(mixed_table(), "default", COSTS, method="logistic-chow", positive="bad", drop=["town"])
    recuse.save(model, path)
    return path


@pytest.fixture(scope="module")
def own_log(fitted):
    path = fitted.with_name("reviews.jsonl")
    ReviewLog(path).append(records_of(saved_digest(fitted)))
    return path


@pytest.fixture(scope="module")
def card(fitted, own_log):
    return make_card(fitted, log=own_log, **WATCHED)


def test_a_model_file_has_a_card_with_oversight_and_alarms(card, fitted, own_log):
    kinds = assert_traced(card, fitted, own_log)
    assert {"recuse inspect loans.skops", "reviews.jsonl", "recuse review verify reviews.jsonl --json"} <= kinds
    assert any(kind.startswith("recuse watch loans.skops --log reviews.jsonl") for kind in kinds)
    assert card.markdown().startswith("# Card of the model loans.skops\n\nALARM promise broken: ")
    assert card.to_be_stated == N_QUESTIONS
    assert "Cases given to reviewers" in card.markdown()


def test_it_says_what_the_file_says_and_what_only_a_run_knows(card):
    facts = recuse.Costs(**COSTS.as_dict()) if hasattr(COSTS, "as_dict") else COSTS
    assert f"{facts.fn:g}" in texts_of(card, "prices")
    assert "bad" in texts_of(card, "data")
    assert "town" not in texts_of(card, "data")
    assert "Rejected as ambiguous above" in texts_of(card, "model")
    assert "keeps no figures" in texts_of(card, "performance")
    assert "No groups were looked at" in texts_of(card, "limits")


def test_held_out_figures_of_an_ensemble_are_those_it_kept(fitted, monkeypatch):
    from recuse.inspecting import inspect_model

    facts = inspect_model(fitted) | {
        "held_out": {"cost": 0.21875, "coverage": 0.625},
        "members": {"Logistic regression": 0.75, "Forest": 0.25},
        "promise": "error <= 0.05",
        "confidence": 0.95,
        "edits": [{"sentence": "age: flatten, by Ann"}],
    }
    monkeypatch.setattr("recuse.cards.model_file.inspect_model", lambda path: facts)
    card = make_card(fitted)
    assert "0.2188" in texts_of(card, "performance")
    assert "62.5%" in texts_of(card, "performance")
    assert "Forest" in texts_of(card, "model")
    assert "Edited: age: flatten, by Ann" in texts_of(card, "model")
    assert "error <= 0.05" in texts_of(card, "guarantee")


def test_the_command_takes_a_model_file(fitted, own_log, tmp_path):
    out = tmp_path / "card.md"
    result = CliRunner().invoke(app, ["card", str(fitted), "--log", str(own_log), "--out", str(out), "--json"])
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf-8").startswith("# Card of the model loans.skops\n")
    assert json.loads(out.with_suffix(".json").read_bytes())["title"]["text"] == "Card of the model loans.skops"


def test_a_log_of_another_model_leads_to_its_card(run, own_log, fitted):
    with pytest.raises(ValueError, match=rf"recuse card MODEL\), whose digest begins with {saved_digest(fitted)[:12]}"):
        make_card(run, log=own_log)


def test_alarms_come_first_and_promises_are_told_apart(run, log):
    card = make_card(run, log=log, **WATCHED)
    assert_traced(card, *run.iterdir(), log)
    assert card.markdown().split("\n")[2].startswith("ALARM promise broken: error")
    assert [alarm["text"] for alarm in card.as_dict()["alarms"]] == [
        note["text"] for note in section_of(card, "monitoring")["notes"] if note["text"].startswith("ALARM")
    ]
    assert "The model was fitted to keep no promise" in texts_of(card, "guarantee")
    assert "one given for this card" in texts_of(card, "monitoring")
    quiet = make_card(run, log=log, promises="error<=0.5", reference=200)
    assert quiet.as_dict()["alarms"] == []
    assert "ALARM" not in quiet.markdown()


def test_nothing_stands_without_a_word(run, log):
    card = make_card(run, log=log, **WATCHED)
    for section in card.as_dict()["sections"]:
        for table in section["tables"]:
            assert all(cell["text"] for row in table["rows"] for cell in row[1:2])
    columns = [column for table in section_of(card, "oversight")["tables"] for column in table["columns"]]
    assert "verdict of another class" in columns
    assert "another class among rejected cases" in columns


def test_how_the_table_was_read_stands_in_the_run_and_on_the_card(tmp_path):
    table = mixed_table()
    table["score"] = table["score"].astype(object).where(np.arange(len(table)) % 9 > 0, "n.k.")
    table.to_csv(tmp_path / "loans.csv", index=False)
    source = recuse.tables.TableFile(tmp_path / "loans.csv", missing=["n.k."], decimal=".")
    recuse.compare(
        source, "default", positive="bad", costs=COSTS, methods=["logistic-chow"], cv=2, repeats=1, out=tmp_path / "run"
    )
    assert json.loads((tmp_path / "run" / "run.json").read_bytes())["arguments"]["read"] == {
        "decimal": ".",
        "missing": ["n.k."],
    }
    card = make_card(tmp_path / "run")
    assert_traced(card, *(path for path in (tmp_path / "run").iterdir() if path.is_file()))
    rows = {row[0]["text"]: row[1]["text"] for row in section_of(card, "data")["tables"][0]["rows"]}
    assert rows["Read with --missing"] == "n.k."
