"""The comparison: nested, honest, complete, and not stopped by one failure."""

import json
import os
import re
import signal
import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

import recuse
from recuse import ThresholdRejectClassifier
from recuse.comparison import METHODS, Method, compare, fit, fits, methods, write_run
from recuse.comparison.answers import Answers
from recuse.comparison.constants import CONSTANTS
from recuse.comparison.folds import FoldResult
from recuse.comparison.loading import load_cases, load_table
from recuse.comparison.plans import Plan, Task
from recuse.metrics import coverage_score, expected_cost, selective_accuracy_score
from recuse.report.operating_points import WAYS
from tests.comparison.conftest import COSTS
from tests.marks import may_reject_all


def test_rows_are_what_the_metrics_say(comparison, table):
    rows = {row.name: row for row in comparison.rows}
    assert set(rows) == {"logistic-no-reject", "logistic-chow", "logistic-tuned", "send-all", "always-no", "always-yes"}
    y = table["default"].to_numpy()
    for name in ("logistic-no-reject", "logistic-chow", "logistic-tuned"):
        answers = comparison.decisions(name)["decision"].to_numpy()
        known = {"reject_label": "[abstain]", "labels": ["bad", "good"]}
        assert rows[name].cost.value == pytest.approx(expected_cost(y, answers, costs=COSTS, pos_label="bad", **known))
        assert rows[name].coverage == pytest.approx(coverage_score(y, answers, **known))
        assert rows[name].accuracy == pytest.approx(selective_accuracy_score(y, answers, **known))
    assert rows["logistic-no-reject"].coverage == 1
    assert 0 < rows["logistic-chow"].coverage < 1
    assert rows["send-all"].cost.value == pytest.approx(0.3)


def test_leaderboard_is_sorted_and_compared_with_the_best(comparison):
    costs = [row.cost.value for row in comparison.rows]
    assert costs == sorted(costs)
    assert comparison.rows[0].difference.value == 0
    for row in comparison.rows:
        assert row.difference.value == pytest.approx(row.cost.value - costs[0])
        assert row.cost.low <= row.cost.value <= row.cost.high


def test_decisions_are_out_of_fold(comparison, table):
    decisions = comparison.decisions("logistic-chow")
    assert decisions["case"].tolist() == list(range(1, len(table) + 1))
    assert sorted(decisions["fold"].unique()) == [1, 2, 3]
    assert set(decisions.columns) == {
        "case", "outcome", "decision", "kind", "forced", "h", "r", "reason", "fold", "answered", "wrong", "cost",
    }  # fmt: skip
    np.testing.assert_array_equal(decisions["kind"] == "accept", decisions["r"] > 0)
    np.testing.assert_array_equal(decisions["forced"] == "good", decisions["h"] > 0)
    assert decisions["reason"].str.len().min() > 10
    # Fitted without the cases of the fold: the same model, fitted by hand on the others, gives the same scores.
    fold = (decisions["fold"] == 1).to_numpy()
    model = fit(table[~fold], "default", method="logistic-chow", positive="bad", costs=COSTS)
    np.testing.assert_allclose(recuse.decide(model, table[fold]).h, decisions["h"][fold], atol=1e-9)


class Spy(ClassifierMixin, BaseEstimator):
    """A classifier that notes how many cases, and which, it was fitted on."""

    seen: ClassVar[list] = []

    def __init__(self, strength=1.0):
        self.strength = strength

    def fit(self, X, y):
        Spy.seen.append((self.strength, set(X["mark"].tolist())))
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.clip(0.5 + self.strength * (X["mark"].to_numpy() % 2 - 0.5), 0, 1)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


def test_hyper_parameters_are_chosen_on_the_training_part(monkeypatch):
    def build(task):
        rule = methods.RuleCost("chow", task.costs, task.pos_label)
        wrapped = ThresholdRejectClassifier(Spy(), costs=task.costs, pos_label=task.pos_label)
        return Plan(wrapped, {"strength": [-1.0, 1.0]}, inner="estimator", scoring=rule)

    monkeypatch.setattr(methods, "METHODS", (Method("spy", "Spy", build),))
    Spy.seen.clear()
    n = 60
    frame = pd.DataFrame({"mark": np.arange(n, dtype=float), "y": np.arange(n) % 2})
    result = compare(frame, "y", costs=0.2, cv=3, repeats=1)
    assert result.rows[0].cost.value == 0  # it chose the strength that answers rightly
    folds = [set(fold.test.tolist()) for fold in result.answers["spy"].folds]
    fits = [marks for _, marks in Spy.seen]
    assert len(fits) == 3 * (2 * 3 + 1)
    for number, test in enumerate(folds):
        for marks in fits[number * 7 : (number + 1) * 7]:
            assert not marks & test


def test_a_failing_method_is_reported_and_the_others_go_on(table, monkeypatch, tmp_path):
    def build(task):
        raise RuntimeError("no luck\nat all")

    monkeypatch.setattr(methods, "METHODS", (*METHODS, Method("bad-luck", "Bad luck", build)))
    result = compare(
        table,
        "default",
        positive="good",
        costs=COSTS,
        methods=["bad-luck", "logistic-chow"],
        cv=3,
        repeats=1,
        out=tmp_path,
    )
    row = result.rows[-1]
    assert (row.name, row.cost, row.error) == ("bad-luck", None, "no luck at all")
    assert result.winner.name == "logistic-chow"
    assert "failed: no luck at all" in (tmp_path / "report.html").read_text()
    assert not list(tmp_path.glob(".cache/*/bad-luck*"))  # a later run tries again


def _run_or_die(names, task, cases, train, test, reasons, place):
    """Fit a fold, except that one method ends its process in the fold that answers the first case."""
    if "logistic-tuned" in names and 0 in test:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_sent(names, task, cases, train, test, reasons, place)


run_sent = fits.run_sent


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="ends processes as POSIX systems do")
def test_a_worker_that_dies_is_one_line_and_the_others_go_on(comparison, table, monkeypatch, tmp_path):
    monkeypatch.setattr(fits, "run_sent", _run_or_die)
    fold = comparison.decisions("logistic-tuned")["fold"][0]
    options = {"positive": "bad", "costs": COSTS, "cv": 3, "repeats": 1, "n_jobs": 2, "out": tmp_path / "run"}
    names = ["logistic-no-reject", "logistic-chow", "logistic-tuned"]
    died = rf"fold {fold} of 3: the process that fitted it ended with SIGKILL, as when memory runs out"
    with pytest.warns(UserWarning, match=rf"^logistic-tuned, {died}; the other fits go on\.$") as caught:
        found = compare(table, "default", methods=names, **options)
    assert len(caught) == 1
    assert re.fullmatch(died, found.errors["logistic-tuned"])
    assert "the process that fitted it ended with SIGKILL" in (tmp_path / "run" / "leaderboard.csv").read_text()
    assert "the process that fitted it ended with SIGKILL" in (tmp_path / "run" / "report.html").read_text()
    for name in ("logistic-no-reject", "logistic-chow"):
        assert found.row(name).cost.value == comparison.row(name).cost.value
    # Nothing of a death is kept: the next run fits what is missing.
    monkeypatch.setattr(fits, "run_sent", run_sent)
    again = compare(table, "default", methods=names, **options)
    assert again.errors == {}
    assert again.row("logistic-tuned").cost.value == comparison.row("logistic-tuned").cost.value


def test_every_method_failing_is_an_error(table, monkeypatch, tmp_path):
    def build(task):
        raise RuntimeError("no luck")

    monkeypatch.setattr(methods, "METHODS", (Method("bad-luck", "Bad luck", build),))
    with pytest.raises(ValueError, match=r"Every method failed. bad-luck: no luck"):
        compare(table, "default", positive="good", costs=COSTS, cv=3, out=tmp_path)


def test_everything_is_written(comparison, table, tmp_path):
    write_run(comparison, tmp_path)
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert board["method"].tolist() == [row.name for row in comparison.rows]
    decisions = pd.read_csv(tmp_path / "decisions.csv")
    assert len(decisions) == len(table)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["arguments"]["seed"] == 0
    assert run["arguments"]["costs"]["fn"] == 3
    assert run["data"]["fingerprint"] == comparison.fingerprint
    assert run["winner"] == comparison.winner.name
    assert {"scikit-learn", "skrub", "recuse"} <= set(run["versions"])
    model = recuse.load(tmp_path / "model.skops")
    again = recuse.decide(model, table)
    np.testing.assert_array_equal(again.r, recuse.decide(comparison.model(), table).r)


def test_repeats_average_over_folds(table):
    options = {"positive": "good", "costs": COSTS, "methods": ["logistic-chow"], "cv": 3}
    twice = compare(table, "default", repeats=2, **options)
    once = compare(table, "default", repeats=1, **options)
    answers = twice.answers["logistic-chow"]
    assert answers.kind.shape == (2, len(table))
    np.testing.assert_array_equal(answers.r[0], once.answers["logistic-chow"].r[0])
    assert not np.array_equal(answers.fold[0], answers.fold[1])
    labels = np.where(answers.kind == 0, np.where(answers.forced == 1, "good", "bad"), "[abstain]")
    known = {"costs": COSTS, "reject_label": "[abstain]", "labels": ["bad", "good"]}
    costs = [expected_cost(table["default"], row, **known) for row in labels]
    assert twice.rows[0].cost.value == pytest.approx(np.mean(costs))


def test_worker_processes_give_the_same(comparison, table):
    options = {"positive": "bad", "costs": COSTS, "methods": ["logistic-no-reject", "logistic-chow", "logistic-tuned"]}
    parallel = compare(table, "default", cv=3, repeats=1, n_jobs=2, **options)
    timeless = ["method", "cost", "cost_low", "cost_high", "coverage", "accuracy", "params"]
    pd.testing.assert_frame_equal(parallel.leaderboard[timeless], comparison.leaderboard[timeless])


def test_progress_counts_folds(table):
    seen = []
    compare(
        table,
        "default",
        positive="good",
        costs=COSTS,
        methods=["logistic-chow"],
        cv=2,
        repeats=1,
        progress=lambda *state: seen.append(state),
    )
    assert seen == [(0, 2, ""), (1, 2, "Logistic regression, Chow's rule"), (2, 2, "Logistic regression, Chow's rule")]


def test_default_table():
    cases = load_cases(load_table(None, None))
    assert (len(cases.outcomes), cases.positive, cases.classes) == (569, "malignant", ["benign", "malignant"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": 0.7}, "Rejecting never pays"),
        ({"methods": ["logistic"]}, "'logistic' is not known; did you mean 'logistic-"),
        ({"methods": []}, "methods is empty"),
        ({"cv": 1}, "cv must be 2 or more"),
        ({"target": None}, "target is missing"),
        ({"positive": "x"}, "positive='x' does not occur"),
        ({"cv": 100}, "at least 100 are needed"),
    ],
)
def test_bad_arguments(table, options, message):
    with pytest.raises(ValueError, match=message):
        compare(table, **{"target": "default", "positive": "good", **options})


@pytest.mark.parametrize("run", [compare, recuse.fit])
def test_prices_of_two_outcomes_are_refused_before_the_table_is_read(run):
    with pytest.raises(ValueError, match="Rejecting never pays"):
        run("not there.csv", "y", positive="bad", costs=recuse.Costs(1, 1, 0.8))


def test_out_is_a_file(table, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file: give a folder"):
        compare(table, "default", positive="good", out=tmp_path / "taken")


def test_rule_cost_is_the_cost_of_the_rule(overlapping):
    X, y = overlapping
    fitted = LogisticRegression().fit(X, y)
    costs = recuse.Costs(fp=1, fn=2, reject=0.25)
    chow = ThresholdRejectClassifier(LogisticRegression(), costs=costs).fit(X, y)
    plain = ThresholdRejectClassifier(LogisticRegression(), costs=costs, rule="chow", coverage=1.0, cv=2).fit(X, y)
    assert methods.RuleCost("chow", costs, 1)(fitted, X, y) == pytest.approx(
        -expected_cost(y, chow.decide(X), costs=costs)
    )
    assert methods.RuleCost("no-reject", costs, 1)(fitted, X, y) == pytest.approx(
        -expected_cost(y, plain.decide(X), costs=costs)
    )
    tuned = methods.RuleCost("tuned", costs, 1)(fitted, X, y)
    assert tuned >= methods.RuleCost("chow", costs, 1)(fitted, X, y)
    swapped = recuse.Costs(fp=2, fn=1, reject=0.25)
    assert methods.RuleCost("chow", swapped, 0)(fitted, X, y) == pytest.approx(
        methods.RuleCost("chow", costs, 1)(fitted, X, y)
    )


def test_names_lead_to_methods_and_methods_to_public_estimators():
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)
    assert methods.choose_methods(names, 10**9) == list(METHODS)
    for method in METHODS:
        assert method.moves in WAYS
        estimator = method.build(methods.Task(COSTS, "bad", 0, 100)).estimator
        classifier = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        assert type(classifier).__name__ in recuse.__all__


def test_large_tables_leave_slow_methods_out():
    small = {method.name for method in methods.choose_methods(None, 1000)}
    large = {method.name for method in methods.choose_methods(None, 100_000)}
    assert small - large == {m.name for m in METHODS if m.max_rows is not None}
    assert "forest-chow" in small - large
    assert methods.choose_methods(["forest-chow"], 100_000)[0].name == "forest-chow"


@may_reject_all
@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_every_method_works_on_a_mixed_table_and_can_be_saved(table, method, tmp_path):
    model = fit(table, "default", method=method, positive="bad", costs=COSTS)
    decisions = recuse.decide(model, table)
    assert (decisions.label[decisions.accepted] == decisions.forced[decisions.accepted]).all()
    assert (decisions.forced == table["default"]).mean() > 0.6
    if method.endswith("-no-reject"):
        assert decisions.accepted.all()
    recuse.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(recuse.decide(recuse.load(tmp_path / "model.skops"), table).r, decisions.r)


@pytest.mark.parametrize("positive", ["bad", "good"])
@pytest.mark.parametrize("name", [constant.name for constant in CONSTANTS])
def test_h_of_a_constant_points_towards_the_second_class(table, name, positive):
    result = compare(table, "default", positive=positive, costs=COSTS, methods=["logistic-chow"], cv=2, repeats=1)
    answers = result.answers_of(name)
    negative = "good" if positive == "bad" else "bad"
    forced = np.where(answers.forced[0] == 1, positive, negative)
    assert ((answers.h[0] > 0) == (forced == "good")).all()


class Doubtful(LogisticRegression):
    """Warns at strong penalties."""

    def fit(self, X, y):
        if self.C < 0.02:
            warnings.warn("hardly any weight", RuntimeWarning, stacklevel=2)
        return super().fit(X, y)


def test_a_warning_of_a_search_names_the_settings_and_is_given_once():
    task = Task(COSTS, "bad", seed=0, n_rows=120)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "bad", "good")
    for grid, settings in (([1e-9, 1e-8, 10.0], "C=1e-09; C=1e-08"), ([1e-9, 1e-8], "every setting")):
        plan = Plan(Doubtful(), {"C": grid}, scoring=get_scorer("accuracy"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plan.fit(X, y, task)
        found = [str(warning.message) for warning in caught if warning.category is RuntimeWarning]
        searched = [text for text in found if "search" in text]
        assert searched == [f"In its search, with {settings}: hardly any weight"]
        assert len(found) == 1 + (10.0 not in grid)  # and of the model itself, where it is one of these


@pytest.mark.parametrize(
    ("warned", "repeats", "words"),
    [
        ({1}, 1, "in fold 2"),
        ({0, 3}, 1, "in fold 1 and fold 4"),
        ({0, 3}, 2, "in fold 1 of repetition 1 and fold 2 of repetition 2"),
        ({0, 1, 3}, 2, "in 3 of 4 folds"),
        ({0, 1, 2, 3}, 2, "in all 4 folds"),
    ],
)
def test_warnings_name_their_folds(warned, repeats, words):
    size = 8 // (4 // repeats)
    folds = [
        replace(
            FoldResult.failed(np.arange(size) + size * (n % (4 // repeats)), None), warnings=["odd"] * (n in warned)
        )
        for n in range(4)
    ]
    ones = np.ones(size)
    filled = {"forced": ones.astype(np.int8), "kind": ones.astype(np.int8), "h": ones, "r": ones, "score": ones}
    folds = [replace(fold, **filled, reason=[""] * size) for fold in folds]
    assert Answers.of(folds, 8, 4 // repeats).warnings == {"odd": words}
