"""What the page shows of the ensemble: its members, and whether its probabilities mean what they say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import recuse
from recuse.metrics import reliability_curve
from recuse.report.html import render
from recuse.report.summary import summarize

COSTS = recuse.Costs(fp=1, fn=3, reject=0.25)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(240, 5, n_informative=3, flip_y=0.05, class_sep=1.2, random_state=4)
    return pd.DataFrame(X, columns=list("abcde")).assign(y=np.where(y == 1, "yes", "no"))


def compare(table, methods):
    return recuse.compare(table, "y", positive="yes", costs=COSTS, methods=methods, cv=3, repeats=1)


@pytest.fixture(scope="module")
def run(table):
    return compare(table, ["ensemble", "logistic-chow"])


@pytest.fixture(scope="module")
def summary(run):
    return summarize(run, run.model("ensemble"))


def test_members_are_those_of_the_model_and_the_blend_comes_last(run, summary):
    model = run.model("ensemble")[-1]
    *members, blend = summary["members"]
    assert [member["title"] for member in members] == list(model.shares_)
    assert sum(member["share"] for member in members) == pytest.approx(1)
    assert [member["share"] for member in members] == sorted((member["share"] for member in members), reverse=True)
    named = {member.title: member.name for member in model.members_}
    for member in members:
        assert member["gain"] == model.gains_[named[member["title"]]]
        assert member["cost"] == model.held_out_costs_[named[member["title"]]]
    assert blend["cost"] == model.held_out_costs_["blend"]


def test_reliability_is_that_of_the_out_of_fold_probabilities(run, summary):
    assert run.verdict.best_model == "ensemble"
    curve = reliability_curve(run.positive, run.answers["ensemble"].score[0])
    shown = summary["reliability"]["ensemble"]
    assert [row["observed"] for row in shown["bins"]] == pytest.approx(curve.observed)
    assert sum(row["counts"] for row in shown["bins"]) == 240
    assert shown["error"] == pytest.approx(curve.error)


def test_the_page_has_both_and_neither_for_a_machine_without_probabilities(summary, table):
    page = render(summary)
    assert 'id="members"' in page
    assert 'id="chart-reliability"' in page
    machine = compare(table, ["double-hinge"])
    other = summarize(machine, machine.model("double-hinge"))
    assert (other["members"], other["reliability"]) == ([], {})
    page = render(other)
    assert 'id="members"' not in page
    assert 'id="chart-reliability"' not in page
