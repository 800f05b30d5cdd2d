"""An update learns what has changed, is compared on cases it has not seen, and replaces nothing it is dearer than."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import recuse
from recuse.cli import app
from recuse.comparison.plans import CHOW, Plan, RuleCost, Task
from recuse.ensemble import EnsembleRejectClassifier
from recuse.persistence import saved_digest
from recuse.reviews import ReviewLog
from recuse.updating import update_model
from recuse.updating.judging import compare_paid
from recuse.updating.refitting import WeightedCases, refit
from recuse.watching import World

from .worlds import PRICES, OneColumn, Records, fitted, reviews, training_table

TRUE_TURN = 1.2


def true_cost(model, turned=TRUE_TURN):
    """Cost per case where the direction of risk has turned; probabilities are known there."""
    X = np.random.default_rng(9).standard_normal((20_000, 3))
    p = 1 / (1 + np.exp(-3 * (np.cos(turned) * X[:, 0] + np.sin(turned) * X[:, 1])))
    answers = recuse.decide(model, pd.DataFrame(X, columns=["risk", "income", "age"]), reasons=False)
    wrong = np.where(answers.forced == "yes", 1 - p, p)
    return np.where(answers.accepted, wrong, PRICES.reject_positive).mean()


def test_after_a_change_the_update_is_cheaper_and_says_what_it_costs(model):
    update = update_model(model, training_table(), reviews(), target="outcome", forget=1)
    assert update.replaces
    assert update.judged.dearer.high < 0
    old, new = true_cost(model), true_cost(update.model)
    assert update.judged.old.low < old < update.judged.old.high
    assert update.judged.new.low < new < update.judged.new.high
    assert new < 0.6 * old


def test_a_table_that_is_not_forgotten_counts(model):
    kept, half = (
        update_model(model, training_table(), reviews(), target="outcome", forget=f, folds=2) for f in (0, 0.9)
    )
    assert kept.remembered == half.remembered == 800
    assert true_cost(half.model) < true_cost(kept.model)


def test_a_worse_model_replaces_nothing(model):
    """Fitted anew to a table whose outcomes are exchanged, where nothing has changed."""
    wrong = training_table(4000).replace({"outcome": {"yes": "no", "no": "yes"}})
    update = update_model(model, wrong, reviews(turned=0.0), target="outcome")
    assert not update.replaces
    assert update.judged.sentence == "the new model is dearer"


def test_weights_of_whole_numbers_are_repetitions(model):
    """Without a search a case of weight 3 is the same as three cases, up to the single precision of the table."""
    table, rng = training_table(300), np.random.default_rng(2)
    times = rng.integers(1, 6, size=300)
    features, positive = table[["risk", "income", "age"]], (table["outcome"] == "yes").to_numpy()
    own = recuse.ThresholdRejectClassifier(LogisticRegression(tol=1e-8), costs=PRICES)

    def coefficients(rows, weights):
        found = refit(model, own, 0, WeightedCases(features.iloc[rows], positive[rows], weights))
        return found[-1].estimator_.coef_

    rows = np.arange(300)
    repeated = np.repeat(rows, times)
    weighted = coefficients(rows, times.astype(float))
    np.testing.assert_allclose(weighted, coefficients(repeated, np.ones(len(repeated))), atol=2e-3)
    assert np.abs(weighted - coefficients(rows, np.ones(300))).max() > 0.02


def test_a_search_weighs_its_held_out_cases():
    """Of two settings the one that is right about the heavy cases is chosen."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    heavy = np.arange(600) % 3 == 0
    y = np.where(np.where(heavy, X[:, 0], X[:, 1]) > 0, "yes", "no")
    task = Task(PRICES, "yes", 0, 600)
    for weights, column in ((np.where(heavy, 50.0, 1.0), 0), (np.where(heavy, 0.02, 1.0), 1)):
        rule = recuse.ThresholdRejectClassifier(OneColumn(), costs=PRICES, pos_label="yes")
        plan = Plan(rule, {"column": [0, 1]}, inner="estimator", scoring=RuleCost(CHOW, PRICES, "yes"))
        assert plan.fit(X, y, task, weights=weights)[1] == {"column": column}


def test_a_method_that_cannot_weight_is_refused(model):
    with pytest.raises(TypeError, match=r"'kneighborsclassifier' cannot weight cases.*recuse methods"):
        update_model(model, training_table(), reviews(), target="outcome", method=KNeighborsClassifier())


def test_the_interval_of_the_difference_holds_the_truth():
    """Two given models, many audits of a tenth of the accepted cases."""
    rng, missed = np.random.default_rng(4), 0
    for _ in range(300):
        accepted = rng.random(1500) < 0.7
        kept = ~accepted | (rng.random(1500) < 0.1)
        old, new = (np.where(accepted, rng.random(1500) < rate, other) for rate, other in ((0.10, 0.21), (0.06, 0.3)))
        weights = np.where(accepted, accepted.sum() / (accepted & kept).sum(), 1.0)[kept]
        found = compare_paid(old[kept].astype(float), new[kept].astype(float), weights, PRICES)
        missed += not found.dearer.low <= 0.7 * -0.04 + 0.3 * 0.09 <= found.dearer.high
    assert missed / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_models_that_answer_alike_differ_by_nothing():
    paid = np.array([0.0, 1.0, 0.21])
    assert compare_paid(paid, paid, np.array([1.0, 50.0, 1.0]), PRICES).dearer == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("method", ["logistic-chow", "logistic-tuned"])
def test_thresholds_move_and_the_classifier_stays(method):
    model = fitted(method)
    update = update_model(model, None, reviews(), target="outcome", thresholds_only=True, folds=2)
    new, old = update.model[-1], model[-1]
    assert new.estimator_ is old.estimator_
    assert update.model[:-1].get_params(deep=False)["steps"] == model.steps[:-1]
    assert old.thresholds_ != new.thresholds_
    # What the model is sure of is no longer so: rejecting more is the best that thresholds can do.
    assert update.judged.dearer.high < 0
    assert true_cost(update.model) < 0.8 * true_cost(model)


def test_moved_thresholds_survive_a_file(tmp_path):
    model = fitted()
    update = update_model(model, None, reviews(), target="outcome", thresholds_only=True, folds=2)
    recuse.save(update.model, tmp_path / "moved.skops")
    rows = training_table()[:50]
    assert recuse.decide(recuse.load(tmp_path / "moved.skops"), rows) == recuse.decide(update.model, rows)


def test_thresholds_of_an_ensemble_move():
    model = fitted(EnsembleRejectClassifier(["logistic", "extra-trees"], costs=PRICES, rule="chow"))
    update = update_model(model, None, reviews(), target="outcome", thresholds_only=True, folds=2)
    assert update.model[-1].thresholds_ != model[-1].thresholds_
    assert update.model[-1].rule_ == "tuned"
    assert model[-1].rule_ == "chow"
    assert true_cost(update.model) < 0.8 * true_cost(model)


def test_a_model_without_thresholds_cannot_move_them():
    model = fitted(recuse.AbstentionBoostingClassifier(costs=PRICES, n_rounds=5))
    with pytest.raises(TypeError, match="AbstentionBoostingClassifier whose thresholds cannot be moved"):
        update_model(model, None, reviews(), target="outcome", thresholds_only=True, folds=2)


def test_what_reviewers_were_not_shown_comes_from_the_table_that_was_answered(model):
    full = update_model(model, training_table(), reviews(1), target="outcome", forget=1, folds=2)
    cases = pd.DataFrame(np.nan, index=range(500), columns=["risk", "income", "age"])
    records = []
    for record in reviews(1).records():
        if record["kind"] == "task":
            cases.loc[record["case"]] = {name: float(text) for name, text in record["shown"].items()}
            record = {**record, "case": record["case"] + 1, "shown": {"risk": record["shown"]["risk"]}}
        records.append(record)
    given = {"target": "outcome", "forget": 1, "folds": 2}
    with pytest.raises(ValueError, match=r"not shown \['income', 'age'\].*--cases"):
        update_model(model, training_table(), Records(records), **given)
    with pytest.raises(ValueError, match="table has 3 rows"):
        update_model(model, training_table(), Records(records), cases=cases[:3], **given)
    found = update_model(model, training_table(), Records(records), cases=cases, **given)
    assert found.judged == full.judged


def test_one_table_cannot_hold_the_cases_of_two_answers(model):
    with pytest.raises(ValueError, match=r"2 files of answers.*--since"):
        update_model(model, training_table(), reviews(2), target="outcome", cases=training_table())


def test_columns_keep_their_kinds():
    """Yes and no, dates, text and empty cells, as packets write them."""
    rng = np.random.default_rng(5)
    table = training_table(400).assign(
        flag=rng.random(400) < 0.5,
        day=pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 300, 400), unit="D"),
        town=np.where(rng.random(400) < 0.5, "Ulm", "Bonn"),
    )
    model = recuse.fit(table, "outcome", PRICES, method="logistic-chow")
    more = {"flag": "True", "day": "2025-06-01", "town": ""}
    records = [
        {**record, "shown": record["shown"] | more} if record["kind"] == "task" else record
        for record in reviews(1).records()
    ]
    update = update_model(model, table, Records(records), target="outcome", folds=2)
    assert update.model[0].kinds_ == model[0].kinds_
    answers = recuse.decide(update.model, table[:20].assign(flag="False"))
    assert len(answers) == 20


def test_too_few_of_a_verdict_are_refused(model):
    records = [
        {**record, "verdict": "no"} if record["kind"] == "verdict" else record for record in reviews(1).records()
    ]
    with pytest.raises(ValueError, match="0 have the rarer verdict, and 5 folds need 10"):
        update_model(model, training_table(), Records(records), target="outcome")


@pytest.mark.parametrize(
    ("given", "said"), [({"method": "logistic-chow"}, "method and forget"), ({"forget": 2}, "forget")]
)
def test_settings_that_mean_nothing_are_refused(model, given, said):
    with pytest.raises(ValueError, match=said):
        update_model(model, training_table(), reviews(), target="outcome", thresholds_only=True, **given)


def test_a_model_that_reads_no_tables_is_refused(model):
    with pytest.raises(TypeError, match="reads no tables"):
        update_model(model[-1], training_table(), reviews(), target="outcome")


@pytest.fixture
def files(tmp_path, model):
    recuse.save(model, tmp_path / "model.skops")
    training_table().to_csv(tmp_path / "table.csv", index=False)
    log = ReviewLog(tmp_path / "reviews.jsonl")
    log.append(World(cases=500, audit=0.3, turned=TRUE_TURN).records(1, random_state=0))
    return tmp_path


def run(files, *options, table="table.csv"):
    where = [str(files / "model.skops"), str(files / table), "-t", "outcome", "-l", str(files / "reviews.jsonl")]
    return CliRunner().invoke(app, ["update", *where, "-o", str(files / "new.skops"), *options])


def test_the_command_writes_the_new_model(files):
    done = run(files, "--forget", "1", "--json", "--folds", "2")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["replaces"], facts["out"]) == (True, str(files / "new.skops"))
    assert facts["dearer"]["high"] < 0
    assert true_cost(recuse.load(files / "new.skops")) < true_cost(recuse.load(files / "model.skops"))


def test_a_model_that_cannot_be_told_apart_is_written_with_a_word_or_not_at_all(files):
    """Nothing has changed, so that neither is shown to be better."""
    (files / "reviews.jsonl").unlink()
    (files / "reviews.jsonl.head").unlink()
    ReviewLog(files / "reviews.jsonl").append(World(cases=300, audit=0.3).records(1, random_state=0))
    strict = run(files, "--folds", "2", "--only-if-cheaper")
    assert (strict.exit_code, (files / "new.skops").exists()) == (3, False), strict.output
    assert "new.skops was not written: the new model is not shown to be cheaper" in strict.stderr
    done = run(files, "--folds", "2")
    assert (done.exit_code, (files / "new.skops").exists()) == (0, True), done.output
    assert done.stdout.startswith("the two cannot be told apart: the new one costs ")
    assert "the new model, although it is not shown to be cheaper" in done.stderr


def test_only_if_cheaper_writes_a_cheaper_model(files):
    done = run(files, "--forget", "1", "--folds", "2", "--only-if-cheaper")
    assert (done.exit_code, (files / "new.skops").exists()) == (0, True), done.output
    assert done.stdout.startswith("the new model is cheaper: the new one costs ")
    assert "although" not in done.stderr


def test_two_orders_that_exclude_each_other_are_refused(files):
    done = run(files, "--only-if-cheaper", "--force")
    assert done.exit_code == 2
    assert "--only-if-cheaper" in done.stderr


def test_batches_that_another_model_answered_are_counted(files):
    """Not refused: each has the probabilities of its own draw. But the old model may have been fitted with them."""
    own = {"file": "model.skops", "digest": saved_digest(files / "model.skops")}
    records = reviews(2).records()
    next(record for record in records if record["kind"] == "draw")["model"] = own
    given = {"target": "outcome", "forget": 1, "folds": 2}
    found = update_model(files / "model.skops", files / "table.csv", Records(records), **given)
    assert found.of_others == 1
    assert any("batches that another model answered: 1 of 2;" in line for line in found.lines())
    for record in records:
        if record["kind"] == "draw":
            record["model"] = own
    found = update_model(files / "model.skops", files / "table.csv", Records(records), **given)
    assert found.of_others == 0
    assert not any("another model" in line for line in found.lines())


def test_the_command_writes_no_dearer_model_unless_forced(files):
    wrong = training_table(4000).replace({"outcome": {"yes": "no", "no": "yes"}})
    wrong.to_csv(files / "wrong.csv", index=False)
    log = ReviewLog(files / "reviews.jsonl")
    log.append(World(cases=2000, audit=0.3).records(1, random_state=1, first=1))
    done = run(files, "--folds", "2", table="wrong.csv")
    assert (done.exit_code, (files / "new.skops").exists()) == (3, False), done.output
    assert "the new model is dearer" in done.stdout
    assert "was not written: the new model is dearer; --force" in done.stderr
    forced = run(files, "--folds", "2", "--force", table="wrong.csv")
    assert (forced.exit_code, (files / "new.skops").exists()) == (0, True), forced.output
    assert "the new model, although it is dearer" in forced.stderr
