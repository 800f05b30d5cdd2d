"""Tables whose cases belong together, or whose world changes: what folds that fit report, and what others do."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import recuse
from recuse import Costs
from recuse.base import RejectOptionMixin
from recuse.comparison import fit
from recuse.comparison.loading import load_cases, load_table
from recuse.metrics import expected_cost
from tests.marks import may_reject_all

COSTS = Costs(fp=1, fn=5, reject=0.3)


def patients(n, seed, visits=5):
    """Patients with several visits: the features identify the patient and say little about the outcome."""
    rng = np.random.default_rng(seed)
    traits = np.repeat(rng.normal(size=(n, 6)), visits, axis=0) + 0.02 * rng.normal(size=(n * visits, 6))
    chance = 1 / (1 + np.exp(-0.5 * traits[::visits, 0]))
    ill = np.repeat(rng.random(n) < chance, visits)  # an illness lasts over the visits
    frame = pd.DataFrame(traits, columns=[f"x{i}" for i in range(6)]).assign(who=np.repeat(np.arange(n), visits))
    return frame.assign(ill=np.where(ill, "yes", "no"))


def drifting(n, seed, start=0.0):
    """Cases whose relationship turns: the feature that matters at first says the opposite in the end."""
    rng = np.random.default_rng(seed)
    X, when = rng.normal(size=(n, 3)), start + np.arange(n) / 1200
    angle = np.pi * when
    score = 3 * (np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1])
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(day=when)
    return frame.assign(y=np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"))


def shown_cost(result, name):
    return next(row.cost.value for row in result.rows if row.name == name)


def costs_with_and_without_groups(method, seed, new_patients=1000):
    """Cost shown without groups, with them, and on new patients; and the comparison with groups."""
    options = {"positive": "yes", "costs": COSTS, "methods": [method], "cv": 5, "repeats": 1}
    table, new = patients(80, seed), patients(new_patients, seed + 1)
    without = recuse.compare(table.drop(columns="who"), "ill", **options)
    grouped = recuse.compare(table, "ill", groups="who", **options)
    name = grouped.methods[0].name
    decisions = recuse.decide(grouped.model(name), new, reasons=False)
    truth = expected_cost(new["ill"], decisions, costs=COSTS, pos_label="yes")
    return [shown_cost(without, name), shown_cost(grouped, name), truth], grouped


@pytest.mark.filterwarnings("ignore:.*looks like")
def test_visits_of_known_patients_look_far_too_cheap():
    (shown_without, shown_grouped, truth), grouped = costs_with_and_without_groups("boosting-chow", seed=0)
    assert shown_without < 0.5 * min(shown_grouped, truth)
    assert len(np.unique(grouped.cases.groups)) == 80
    assert "who" not in grouped.cases.features
    assert "never on both sides" in grouped.how_folds_were_made


@pytest.mark.filterwarnings("ignore:.*looks like", "ignore:.*reject")
def test_groups_show_the_cost_on_new_patients(monkeypatch):
    """80 patients are few, and one table tells little: the difference from the truth varies by 0.18 between tables."""
    monkeypatch.setattr(RejectOptionMixin, "_speaking", lambda *_: None)  # reasons would take most of the time
    method = ("neighbours", KNeighborsClassifier(8))
    costs = np.array([costs_with_and_without_groups(method, seed)[0] for seed in range(0, 40, 2)])
    without, grouped, truth = costs.mean(axis=0)
    assert without < 0.3 * truth
    assert grouped == pytest.approx(truth, abs=0.12)  # three standard errors of the mean of twenty tables


def test_no_group_is_on_both_sides_of_a_fold(monkeypatch):
    from recuse.comparison import folds, plans

    seen = []

    def remember(method, task, table, shelf=None):
        seen.append(table.groups)
        return fit_prepared(method, task, table, shelf)

    fit_prepared, make_folds = folds.fit_prepared, plans.make_folds
    inner = []

    def remember_inner(cv, y, *, groups=None, random_state=0):
        made = make_folds(cv, y, groups=groups, random_state=random_state)
        inner.extend((groups[train], groups[test]) for train, test in made)
        return made

    monkeypatch.setattr(folds, "fit_prepared", remember)
    monkeypatch.setattr(plans, "make_folds", remember_inner)
    table = patients(30, seed=0)
    result = recuse.compare(
        table.drop(columns="who"), "ill", groups=table["who"], costs=COSTS, methods=["logistic-tuned"], cv=3, repeats=1
    )
    codes = result.cases.groups
    assert len(seen) == 3
    for number, train in enumerate(seen):
        test = codes[result.answers["logistic-tuned"].fold[0] == number]
        assert len(test) > 0
        assert not set(train) & set(test)
    assert inner
    assert not any(set(train) & set(test) for train, test in inner)
    assert result.arguments.groups == "(array)"


def test_a_changed_grouping_is_another_run(tmp_path):
    table = patients(30, seed=0)
    options = {"costs": COSTS, "methods": ["logistic-chow"], "cv": 3, "repeats": 1}
    first = recuse.compare(table, "ill", groups="who", out=tmp_path, **options)
    again = recuse.compare(table, "ill", groups="who", out=tmp_path, **options)
    assert np.array_equal(first.answers["logistic-chow"].fold, again.answers["logistic-chow"].fold)
    facts = json.loads((tmp_path / "run.json").read_text())
    assert facts["arguments"]["groups"] == "who"
    assert "who" not in facts["data"]["columns"]
    other = recuse.compare(
        table.assign(who=np.arange(150) % 50), "ill", groups="who", out=tmp_path, overwrite=True, **options
    )
    assert first.fingerprint != other.fingerprint


def test_groups_that_cannot_be_used_are_refused():
    table = patients(30, seed=0)
    with pytest.raises(ValueError, match=r"table has no column 'whom' with the groups: did you mean 'who'\?"):
        recuse.compare(table, "ill", groups="whom")
    with pytest.raises(ValueError, match="groups='ill' is the column to predict"):
        recuse.compare(table, "ill", groups="ill")
    with pytest.raises(ValueError, match="2 cases have no who, the column with the groups"):
        recuse.compare(table.assign(who=table["who"].where(np.arange(150) > 1)), "ill", groups="who")
    with pytest.raises(ValueError, match="3 different groups, too few for 5 folds"):
        recuse.compare(table, "ill", groups=np.arange(150) % 3)
    with pytest.raises(ValueError, match="2 different groups, too few for 3 folds"):
        fit(table, "ill", method="logistic-chow", groups=np.arange(150) % 2)
    with pytest.raises(ValueError, match=r"too few or too unequal for cv=2 folds: a training part holds \d groups"):
        recuse.compare(table, "ill", groups=np.arange(150) % 4, cv=2)


@may_reject_all
def test_a_model_of_groups_needs_no_group_column():
    table = patients(40, seed=0)
    model = fit(table, "ill", method="abstention-boosting", groups="who", costs=COSTS)
    assert len(recuse.decide(model, table.drop(columns=["who", "ill"]))) == 200


def test_shuffled_folds_of_a_drifting_world_look_far_too_cheap_and_time_shows_the_cost_on_what_comes_next():
    table = drifting(1200, seed=0)
    upcoming = drifting(200, seed=1, start=1.0)
    shuffled_table = table.sample(frac=1, random_state=0)
    options = {"positive": "yes", "costs": COSTS, "methods": ["boosting-chow"], "cv": 5, "repeats": 1}
    shuffled = recuse.compare(shuffled_table, "y", **options)
    timed = recuse.compare(shuffled_table, "y", time="day", **options)
    model = timed.model("boosting-chow")
    truth = expected_cost(upcoming["y"], recuse.decide(model, upcoming, reasons=False), costs=COSTS, pos_label="yes")
    assert shown_cost(shuffled, "boosting-chow") < 0.75 * truth
    assert shown_cost(timed, "boosting-chow") == pytest.approx(truth, rel=0.3)


@pytest.fixture(scope="module")
def waning():
    """Noise over time, in which nearly all of the first cases are positive and hardly any of those answered."""
    rng = np.random.default_rng(0)
    n = 240
    share = np.where(np.arange(n) < n / 3, 0.97, 0.01)
    y = np.where(rng.random(n) < share, "yes", "no")
    return pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(day=np.arange(n) / 2, y=y)


@pytest.mark.parametrize("name", [None, "send-all", "always-no", "always-yes"])
def test_the_model_of_a_constant_answer_gives_that_answer_whatever_the_share_of_all_cases(waning, name, tmp_path):
    result = recuse.compare(waning, "y", positive="yes", time="day", costs=COSTS, methods=["logistic-chow"], cv=2)
    assert result.verdict.chosen == "always-no"
    assert COSTS.thresholds[0] < (waning["y"] == "yes").mean()  # Chow's rule would not say no at this share
    expected = {"send-all": "[abstain]", "always-yes": "yes"}.get(name, "no")
    recuse.save(result.model(name), tmp_path / "model.skops")
    found = recuse.decide(recuse.load(tmp_path / "model.skops"), waning[["a", "b"]])
    assert set(found.label) == {expected}


def test_only_answered_cases_count_over_time(tmp_path):
    table = drifting(240, seed=0).sample(frac=1, random_state=0).reset_index(drop=True)
    result = recuse.compare(table, "y", time="day", costs=COSTS, methods=["logistic-tuned"], cv=3, out=tmp_path)
    assert (len(result.cases.outcomes), len(result.table.outcomes)) == (180, 240)
    decisions = pd.read_csv(tmp_path / "decisions.csv")
    later = np.flatnonzero(table["day"] >= np.sort(table["day"])[60])
    assert decisions["case"].tolist() == (later + 1).tolist()
    assert decisions["outcome"].tolist() == table["y"][later].tolist()
    # Later blocks hold later cases, of 60 each.
    days = table["day"].to_numpy()[decisions["case"] - 1]
    blocks = [days[decisions["fold"] == fold] for fold in (1, 2, 3)]
    assert [len(block) for block in blocks] == [60, 60, 60]
    assert max(blocks[0]) < min(blocks[1])
    assert max(blocks[1]) < min(blocks[2])
    cost = expected_cost(
        table["y"][later],
        result.decisions("logistic-tuned")["decision"],
        costs=COSTS,
        pos_label="yes",
        reject_label="[abstain]",
    )
    assert shown_cost(result, "logistic-tuned") == pytest.approx(cost)
    facts = json.loads((tmp_path / "run.json").read_text())
    assert (facts["data"]["rows"], facts["data"]["answered"]) == (240, 180)
    assert "the last 180 of 240 cases; the first 60 only train" in (tmp_path / "report.html").read_text()
    model = recuse.load(tmp_path / "model.skops")
    assert len(recuse.decide(model, table.drop(columns=["day", "y"]))) == 240


@pytest.mark.parametrize("folds", ["groups", "time"])
def test_methods_that_hold_cases_out_run_in_groups_and_over_time(folds):
    table = drifting(120, seed=0).assign(day=np.arange(120) // 4)
    methods = ["ensemble", "logistic-no-reject", "logistic-tuned", "abstention-boosting", "exactboost", "double-hinge"]
    result = recuse.compare(table, "y", **{folds: "day"}, costs=COSTS, methods=methods, cv=2, repeats=1)
    assert result.errors == {}


def test_time_that_cannot_be_used_is_refused():
    table = drifting(120, seed=0)
    with pytest.raises(ValueError, match="groups and time do not go together"):
        recuse.compare(table, "y", time="day", groups="day")
    with pytest.raises(ValueError, match=r"repeats=3 does not go with time='day'"):
        recuse.compare(table, "y", time="day", repeats=3)
    with pytest.raises(ValueError, match="has no column 'date' with the time"):
        recuse.compare(table, "y", time="date")
    with pytest.raises(ValueError, match="'day' with the time holds 'soon'; dates such as 2024-03-31, or numbers"):
        recuse.compare(table.assign(day="soon"), "y", time="day")
    with pytest.raises(TypeError, match="time must be the name of a column; got ndarray"):
        recuse.compare(table, "y", time=np.arange(120))
    with pytest.raises(ValueError, match="120 cases at 2 different times cannot be split into 5 blocks"):
        recuse.compare(table.assign(day=np.arange(120) // 60), "y", time="day")


@pytest.mark.parametrize("kind", ["text", "dates", "numbers"])
def test_time_of_any_kind_is_put_in_order(kind):
    days = pd.date_range("2024-01-01", periods=120)
    times = {"text": days.strftime("%Y-%m-%d"), "dates": days, "numbers": np.arange(120) * 0.5}[kind]
    table = drifting(120, seed=0).assign(day=times)
    cases = load_cases(load_table(table.iloc[::-1], "y"), time="day")
    assert cases.times.tolist() == list(range(119, -1, -1))
    assert cases.in_time().times.tolist() == list(range(120))
