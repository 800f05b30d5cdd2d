"""Methods with limits, methods that know novelties, methods without probabilities: in rows, files and on the page."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import recuse
from recuse import Costs, CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC, ThresholdRejectClassifier
from recuse.comparison import METHODS, Method, compare, fit, methods
from recuse.comparison.methods import PAIR
from recuse.comparison.plans import Plan, Task
from recuse.comparison.printing import print_leaderboard
from recuse.predicting import predict_table
from recuse.report import summarize
from tests.comparison.conftest import COSTS


def detecting(task):
    """Rejects ambiguous cases and novelties; has two scores and no probabilities."""
    detector = IsolationForest(contamination=0.1, n_estimators=20, random_state=0)
    options = {"costs": task.costs, "pos_label": task.pos_label, "rule": "tuned", "cv": 2}
    return Plan(methods._scaled(ThresholdRejectClassifier(LinearSVC(), novelty=detector, **options)))


NOVEL = Method("novel", "Detector", detecting, PAIR)


@pytest.fixture
def listed(monkeypatch):
    """Put methods into the list."""

    def put(*added):
        monkeypatch.setattr(methods, "METHODS", (*METHODS, *added))

    return put


@pytest.fixture
def with_novelties(table, listed, tmp_path):
    listed(NOVEL)
    costs = Costs(fp=1, fn=3, reject=0.3, reject_novelty=0.1)
    options = {"positive": "bad", "costs": costs, "methods": ["novel", "logistic-no-reject", "double-hinge"], "cv": 3}
    return compare(table, "default", repeats=2, out=tmp_path / "run", **options), costs


def test_novelties_are_a_kind_of_their_own(with_novelties, table, tmp_path, capsys):
    result, costs = with_novelties
    row = next(row for row in result.rows if row.name == "novel")
    assert row.novelty > 0.03
    assert row.coverage + row.ambiguity + row.novelty == pytest.approx(1)
    decisions = result.decisions("novel")
    assert (decisions["kind"] == "novelty").mean() > 0.03
    assert (decisions.loc[decisions["kind"] == "novelty", "decision"] == "[abstain]").all()
    # The price of a novelty is its own.
    answers, positive = result.answers["novel"], result.positive
    prices = costs.matrix()[positive.astype(int), np.where(answers.kind == 0, answers.forced, 1 + answers.kind)]
    assert row.cost.value == pytest.approx(prices.mean())
    print_leaderboard(result)
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.startswith("novel "))
    assert f"{row.ambiguity:.1%}" in line
    assert f"{row.novelty:.1%}" in line
    board = pd.read_csv(tmp_path / "run" / "leaderboard.csv").set_index("method")
    assert board.loc["novel", "novelty"] == pytest.approx(row.novelty)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert 'id="m03"' in page
    assert "first of 2 repetitions" in page
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["arguments"]["costs"]["reject_novelty"] == 0.1


def test_page_of_a_method_without_probabilities(with_novelties):
    """At the prices of the run, and at others, the matrix is what the definition says, over both repetitions."""
    result, costs = with_novelties
    summary = summarize(result, result.model())
    assert summary["novelties"]
    assert summary["prices"]["novelty_ratio"] == pytest.approx(0.1 / 0.3)
    by_name = {method["name"]: method for method in summary["methods"]}
    for name in ("novel", "double-hinge"):
        method, answers = by_name[name], result.answers[name]
        own = np.array(method["points"][0]["matrix"])
        assert own.sum() == pytest.approx(len(result.positive))
        assert (own * costs.matrix()[:2]).sum() / own.sum() == pytest.approx(
            next(row.cost.value for row in result.rows if row.name == name)
        )
        for point in method["points"]:
            matrix = np.array(point["matrix"])
            assert matrix.sum() == pytest.approx(own.sum())
            # Novelties go to manual review whatever the prices.
            np.testing.assert_allclose(matrix[:, 3], own[:, 3])
        assert own[:, 3].sum() == pytest.approx((answers.kind == 2).sum() / 2)
    assert by_name["novel"]["moves"] == "pair"


def test_a_model_with_novelties_answers_new_tables(table, listed, tmp_path):
    listed(Method("novel", "Detector", lambda task: Plan(detecting(task).estimator), PAIR))
    model = fit(table, "default", method="novel", positive="bad", costs=COSTS)
    table.to_csv(tmp_path / "t.csv", index=False)
    answered = predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", capacity=5)
    written = pd.read_csv(tmp_path / "out.csv")
    assert answered.novelty == (written["kind"] == "novelty").sum() > 0
    assert f"{answered.novelty} of them unlike any seen" in str(answered)
    np.testing.assert_array_equal(written["forced"] == "good", written["h"] > 0)


def seen_rows(seen):
    """A method of at most 60 training cases that notes how many it is given."""

    class Noting(LogisticRegression):
        def fit(self, X, y):
            seen.append((len(X), float(np.mean(np.asarray(y) == "bad"))))
            return super().fit(X, y)

    def build(task):
        inner = methods._scaled(Noting())
        return Plan(ThresholdRejectClassifier(inner, costs=task.costs, pos_label=task.pos_label))

    return Method("slow", "Slow", build, max_rows=100, fit_rows=60)


def test_a_slow_method_is_left_out_of_a_large_table_and_its_row_says_so(table, listed, monkeypatch, tmp_path, capsys):
    listed(seen_rows([]))
    few = tuple(method for method in methods.METHODS if method.name in ("logistic-chow", "slow"))
    monkeypatch.setattr(methods, "METHODS", few)
    result = compare(table, "default", positive="good", costs=COSTS, cv=3, repeats=1, out=tmp_path)
    row = result.rows[-1]
    assert (row.name, row.cost, row.error) == ("slow", None, None)
    assert row.note == (
        "left out: meant for tables up to 100 rows; --methods slow runs it on a sample of 60 training cases"
    )
    assert result.winner.name == "logistic-chow"
    print_leaderboard(result)
    assert f"slow: {row.note}" in capsys.readouterr().out
    assert row.note in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert pd.read_csv(tmp_path / "leaderboard.csv").set_index("method").loc["slow", "note"] == row.note


def test_named_it_is_fitted_on_a_stratified_sample_and_its_row_says_so(table, listed):
    seen = []
    listed(seen_rows(seen))
    result = compare(table, "default", positive="good", costs=COSTS, cv=4, repeats=1, methods=["slow"])
    share = (table["default"] == "bad").mean()
    assert [n for n, _ in seen] == [60] * 4
    assert [part for _, part in seen] == pytest.approx([share] * 4, abs=0.02)
    row = next(row for row in result.rows if row.name == "slow")
    assert row.note == "fitted on a sample of 60 of the 120 training cases"
    result.model("slow")  # the model that is saved is fitted on as many
    assert seen[-1][0] == 60
    assert len(result.decisions("slow")) == len(table)  # every case is answered


def test_every_kernel_method_of_this_library_has_such_a_limit():
    machines = (DoubleHingeSVC, DoubleRampSVC, CoupledOneClassSVC)
    found = [method for method in METHODS if isinstance(classifier_of(method), machines)]
    assert len(found) >= len(machines)
    for method in found:
        assert method.max_rows is not None
        assert method.fit_rows is not None
        assert method.fit_rows <= 10_000


def classifier_of(method):
    """The classifier that a method is built of, out of its pipeline."""
    estimator = method.build(Task(COSTS, "bad", seed=0, n_rows=100)).estimator
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def summed(shapes, part, numbers, names):
    """What the shapes on the page give for each case without a missing value."""
    total = np.zeros(len(numbers))
    for shape in shapes:
        column = numbers[:, names.index(shape["feature"])]
        total += np.array(shape[part])[np.searchsorted(shape["cuts"], column, side="left")]
    return total


@pytest.mark.parametrize("positive", ["good", "bad"])
@pytest.mark.parametrize("family", ["chow", "coupled"])
def test_shape_functions_of_a_real_winner_add_up(table, listed, family, positive):
    """What the page shows of a booster, summed over the columns, is its class score and its acceptance score."""
    listed(Method("booster", "Booster", methods.from_library("AbstentionBoostingClassifier", family=family, beta=0.01)))
    table = table.dropna()
    result = compare(table, "default", positive=positive, costs=0.2, methods=["booster"], cv=2, repeats=1)
    model = result.model("booster")  # whether or not it is chosen on so few cases
    why = summarize(result, model)["why"]
    assert 1 <= len(why["shapes"]) == why["n_shapes"] == len(model[-1].shape_functions_)
    assert why["own_acceptance"] == (family == "coupled")
    numbers, names = model[:-1].transform(table), list(model[:-1].get_feature_names_out())
    decisions = recuse.decide(model, table)
    toward = decisions.h if positive == "good" else -decisions.h
    rest = toward - summed(why["shapes"], "h", np.asarray(numbers, dtype=float), names)
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    if family == "coupled":
        rest = decisions.r - summed(why["shapes"], "r", np.asarray(numbers, dtype=float), names)
        np.testing.assert_allclose(rest, rest[0], atol=1e-9)


def test_one_failing_fold_is_told_and_the_rest_is_ranked(table, listed):
    def build(task):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("the second fold does not converge")
        return detecting(task)

    calls = []
    listed(Method("moody", "Moody", build))
    result = compare(
        table, "default", positive="good", costs=COSTS, cv=3, repeats=1, methods=["moody", "logistic-chow"]
    )
    row = result.rows[-1]
    assert (row.name, row.error) == ("moody", "the second fold does not converge")
    assert "moody" not in result.answers
    assert result.rows[0].name == "logistic-chow"


def test_one_reason_of_many_failures_is_told_once(table, listed):
    def build(task):
        raise RuntimeError("no luck.")

    listed(Method("one", "One", build), Method("two", "Two", build))
    with pytest.raises(ValueError, match=r"Every method failed. one, two: no luck.$"):
        str(compare(table, "default", positive="good", costs=COSTS, cv=3, methods=["one", "two"]).winner)
