"""The picture of edits, and what `recuse inspect` says of them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import recuse
from recuse.cli import app
from recuse.plot import EditDisplay
from recuse.predicting import inspect_model

from ..boosting.test_edits import HELD_OUT, fitted, with_pairs  # noqa: F401

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def edited():
    X, y = HELD_OUT
    model = fitted("decoupled").edit("age", "cap", X, y, at_most=0.3, by="Ada", why="outliers")
    return model.edit("region", "set", levels="north", h=0.1).edit("age", "remove", X, y)


def test_a_panel_for_every_function_that_changed(edited):
    display = EditDisplay.from_estimator(edited)
    labels = [ax.get_xlabel() for ax in display.axes_ if ax.axison]
    assert labels == ["age", "region", "age", "age"]  # the last of both scores
    first, bars = display.axes_[:2]
    assert "Ada: outliers" in first.get_title()
    assert "±" in first.get_title()
    assert "not measured" in bars.get_title()
    before, after = first.patches[:2]
    assert before.get_data().values.max() > 0.3 >= after.get_data().values.max()
    shape = edited.edits_[1].after[0]
    assert [bar.get_height() for bar in bars.containers[1]] == shape.h.tolist()


def test_pair_terms_before_and_after(with_pairs, tmp_path):  # noqa: F811
    model, X, y = with_pairs
    edited = model.edit(("region", "dose"), "cap", at_most=0.05).edit("dose", "remove", X, y, scores="h")
    display = EditDisplay.from_estimator(edited)
    panels = [ax for ax in display.axes_ if ax.axison]
    told = [ax.get_title().splitlines()[-1] for ax in panels]
    # Of the cap; of the removal that of the dose itself, and both pairs.
    assert told[:2] == ["before", "after"]
    assert "per case" in told[2]
    assert told[3:] == ["before", "after"] * 2
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == ("region", "dose")
    assert [text.get_text() for text in panels[0].get_xticklabels()] == ["east", "north", "south", "west"]
    before, after = (ax.collections[0].get_array() for ax in panels[:2])
    assert before.max() > 0.05 >= after.max()
    assert not panels[4].collections[0].get_array().any()
    recuse.save(edited, tmp_path / "model.recuse")
    facts = inspect_model(tmp_path / "model.recuse")["edits"]
    assert facts[0]["before"][0]["columns"] == [1, 2]
    assert [function["columns"] for function in facts[1]["before"]] == [[2], [1, 2], [0, 2]]
    json.dumps(facts)


def test_what_is_made_of_a_stacked_score_is_drawn():
    edited = fitted("oof").edit("age", "monotonise", sign=-1)
    labels = [ax.get_xlabel() for ax in EditDisplay.from_estimator(edited).axes_ if ax.axison]
    assert labels[0] == "age"
    assert set(labels) <= {"age", "stacked score"}


def test_a_model_without_edits_has_no_picture():
    with pytest.raises(ValueError, match="was not edited"):
        EditDisplay.from_estimator(fitted("chow"))


def test_inspect_tells_the_edits(edited, tmp_path):
    recuse.save(edited, tmp_path / "model.recuse")
    facts = inspect_model(tmp_path / "model.recuse")
    assert [edit["action"] for edit in facts["edits"]] == ["cap", "set", "remove"]
    assert facts["edits"][0]["cost"]["standard_error"] == pytest.approx(edited.edits_[0].cost.standard_error)
    assert max(facts["edits"][0]["before"][0]["h"]) > 0.3 >= max(facts["edits"][0]["after"][0]["h"])
    assert np.isfinite(facts["edits"][0]["cost"]["change"])
    json.dumps(facts)
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "model.recuse")]).output
    assert "age: cap (at_most=0.3), by Ada, because outliers" in shown
    assert "Cost: not measured" in shown
