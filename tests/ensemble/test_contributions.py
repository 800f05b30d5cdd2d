"""What columns add to the log-odds: it adds up, whatever the view, and is said in reasons."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import recuse
from recuse import EnsembleRejectClassifier
from recuse.ensemble.contributions import contributions, is_additive, shapley

ADDITIVE = ["logistic", "curves", "exactboost", "abstention-boosting"]


@pytest.fixture(scope="module")
def table():
    """Numbers, some of them missing, a column of many categories, and one that says nothing."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 40, 400)
    frame = pd.DataFrame(
        {
            "town": pd.Series([f"t{code}" for code in town]),
            "age": rng.normal(50, 10, 400),
            "income": np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400)),
            "noise": rng.normal(size=400),
        }
    )
    z = 0.15 * (frame["age"] - 50) + frame["income"].fillna(0) + np.where(town < 8, 1.5, -0.5)
    return frame, (rng.random(400) < 1 / (1 + np.exp(-z))).astype(int)


def _is_uncertain(member, matrix):
    """Cases of which no fold's model is as good as certain."""
    probable = [model for model in member.models if hasattr(model, "predict_proba")]
    bounded = [np.abs(model.predict_proba(matrix)[:, 1] - 0.5) > 0.4999 for model in probable]
    return ~np.any(bounded, axis=0) if bounded else np.ones(len(matrix), dtype=bool)


@pytest.mark.parametrize("member", ADDITIVE)
def test_contributions_add_up_to_the_log_odds(table, member):
    frame, y = table
    model = EnsembleRejectClassifier([member], cv=3).fit(frame, y)
    seen = model._see(model._read(frame))
    assert is_additive(model.members_[0])
    parts = contributions(model.members_, model._blend_weights, seen, model._sources)
    assert parts.shape == frame.shape
    odds = model._member_log_odds(seen) @ model._blend_weights
    # Scores are bounded where a probability is as good as certain; of the other cases a constant is left.
    free = _is_uncertain(model.members_[0], seen[model.members_[0].view])
    rest = (odds - parts.sum(axis=1))[free]
    assert free.mean() > 0.9
    assert rest == pytest.approx(np.full(len(rest), rest[0]), abs=1e-9)
    assert parts.mean(axis=0) == pytest.approx(model._typical, abs=1e-12)


@pytest.mark.parametrize("member", ADDITIVE)
def test_a_column_contributes_by_its_own_value_only(table, member):
    frame, y = table
    model = EnsembleRejectClassifier([member], cv=2).fit(frame, y)

    def parts(cases):
        return contributions(model.members_, model._blend_weights, model._see(model._read(cases)), model._sources)

    before = parts(frame)
    for position, (name, other) in enumerate({"town": "t3", "age": 70.0, "income": np.nan, "noise": 1.0}.items()):
        changed = parts(frame.assign(**{name: other}))
        assert np.delete(changed, position, axis=1) == pytest.approx(np.delete(before, position, axis=1))
        assert np.ptp(changed[:, position]) == pytest.approx(0.0, abs=1e-12)


def test_trees_and_other_kinds_are_no_sums(table):
    frame, y = table
    model = EnsembleRejectClassifier(["extra-trees", ("bayes", GaussianNB())], cv=2).fit(frame.fillna(0.0), y)
    assert not any(map(is_additive, model.members_))


@pytest.mark.parametrize(
    "members",
    [
        ["extra-trees"],
        ["histogram-boosting"],
        ["lightgbm"],
        ["catboost"],
        ["xgboost"],
        ["network"],
        ["logistic", "lightgbm", "extra-trees", "network"],
    ],
    ids=" ".join,
)
def test_the_blend_adds_up_whatever_its_members_are(table, members, tmp_path):
    for name in {"lightgbm", "catboost", "xgboost"} & set(members):
        pytest.importorskip(name)
    frame, y = table
    model = EnsembleRejectClassifier(members, cv=2).fit(frame, y)
    found = model._contributions(frame)
    p = model.predict_proba(frame)[:, 1]
    assert found.amounts.shape == frame.shape
    assert found.score == pytest.approx(np.log(p / (1 - p)), abs=1e-6)
    assert np.corrcoef(found.amounts[:, 1], frame["age"])[0, 1] > 0.6
    assert np.abs(found.amounts).mean(axis=0)[3] < np.abs(found.amounts).mean(axis=0)[1]
    if "network" in members:
        assert found.error.max() > 0
    elif members != ["extra-trees"]:
        assert found.error is None
    recuse.save(model, tmp_path / "model.skops")
    again = recuse.load(tmp_path / "model.skops")._contributions(frame)
    assert again.amounts == pytest.approx(found.amounts, abs=1e-9)


def test_members_count_as_they_are_blended(table):
    frame, y = table
    model = EnsembleRejectClassifier(["logistic", "histogram-boosting"], cv=2, blend="greedy").fit(frame, y)
    found = model._contributions(frame).amounts
    seen = model._see(model._read(frame))
    total = np.zeros(frame.shape)
    for member, weight in zip(model.members_, model._blend_weights, strict=True):
        sources = model._sources[member.view]
        if is_additive(member):
            part = contributions([member], np.ones(1), seen, model._sources)
            total += weight * (part - part.mean(axis=0))
        else:
            total += weight * sources.add_up(shapley(member, seen[member.view]).amounts)
    assert found == pytest.approx(total, abs=1e-9)


def test_libraries_give_their_own_values(table):
    lightgbm = pytest.importorskip("lightgbm")
    frame, y = table
    model = EnsembleRejectClassifier(["lightgbm"], cv=2).fit(frame, y)
    matrix = model._see(model._read(frame))["codes"]
    for booster in model.members_[0].models:
        own = lightgbm.Booster(model_str=booster.model_.tobytes().decode()).predict(matrix, pred_contrib=True)
        assert booster.contributions(matrix).amounts == pytest.approx(own[:, :-1], abs=1e-12)
    catboost = pytest.importorskip("catboost")
    assert catboost.__version__
    model = EnsembleRejectClassifier(["catboost"], cv=2).fit(frame, y)
    matrix = model._see(model._read(frame))["codes"]
    for booster in model.members_[0].models:
        p = booster.predict_proba(matrix)[:, 1]
        assert booster.contributions(matrix).score == pytest.approx(np.log(p / (1 - p)), abs=1e-6)


def test_nearest_neighbours_are_left_out_and_the_sentence_says_so(table):
    frame, y = table
    model = EnsembleRejectClassifier(["logistic", "neighbours"], cv=2).fit(frame, y)
    share = model.weights_["logistic"] / sum(model.weights_.values())
    assert 0 < share < 0.95
    told = [text for text in model.decide(frame, reasons="all").reason if " speak" in text]
    assert told
    assert all(f"(by members with {share:.0%} of the weight)" in text for text in told)


def test_reasons_name_what_speaks_for_either_class_with_its_values(table):
    frame, y = table
    model = EnsembleRejectClassifier(["logistic", "extra-trees"], cv=3).fit(frame, y)
    old = int(np.argmax(frame["age"]))
    assert f"age = {frame['age'][old]:.4g}" in model.decide(frame, reasons="all").reason[old]
    plain = model.decide(frame)
    assert not any(" speak" in text for text in plain.reason[plain.accepted])
    assert all(" speak" in text for text in plain.reason[plain.rejected])


def test_a_linear_model_of_the_users_own_is_a_sum(table):
    frame, y = table
    model = EnsembleRejectClassifier([("mine", LogisticRegression())], cv=2).fit(frame[["age", "noise"]], y)
    assert "age" in model.decide(frame[["age", "noise"]], reasons="all").reason[0]


@pytest.mark.parametrize("member", ["abstention-boosting", "exactboost", "histogram-boosting"])
def test_boosters_are_told_which_columns_hold_categories(table, member):
    frame, y = table
    model = EnsembleRejectClassifier([member], cv=2).fit(frame, y)
    for fitted in model.members_[0].models:
        assert list(fitted.categorical_features) == [3]  # behind the numbers
    numbers = EnsembleRejectClassifier([member], cv=2).fit(frame[["age", "income", "noise"]], y)
    assert all(fitted.categorical_features is None for fitted in numbers.members_[0].models)


def test_reasons_name_the_category_of_each_case(table):
    frame, y = table
    model = EnsembleRejectClassifier(["logistic"], cv=3).fit(frame, y)
    new = pd.concat([frame[:1].assign(town=town, age=50.0) for town in ("t3", "nowhere", None)], ignore_index=True)
    seen, unseen, missing = model.decide(new, reasons="all").reason
    assert "town = t3" in seen
    assert "town = nowhere" in unseen
    assert "town missing" in missing


def test_reasons_of_a_learned_rejector_name_the_category():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=600), "site": rng.choice(["old", "new"], 600)})
    noisy = frame["site"] == "old"
    y = np.where(noisy, rng.random(600) < 0.5, frame["x"] > 0).astype(int)
    model = EnsembleRejectClassifier(["logistic"], costs=0.2, rule="learned", cv=3).fit(frame, y)
    reasons = model.decide(frame[noisy]).reason
    assert any("site = old" in reason for reason in reasons)
    assert not any("site = new" in reason for reason in reasons)
