"""What columns add to the log-odds: it adds up, whatever the view, and is said in reasons."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from recuse import EnsembleRejectClassifier
from recuse.ensemble.contributions import contributions, is_additive

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
    assert not any("for 1:" in text for text in model.decide(frame.fillna(0.0)[:20]).reason)


def test_reasons_name_what_speaks_for_either_class_and_by_whom(table):
    frame, y = table
    alone = EnsembleRejectClassifier(["logistic"], cv=3).fit(frame, y)
    reasons = alone.decide(frame).reason
    old = int(np.argmax(frame["age"]))
    assert "for 1: age" in reasons[old]
    assert not any("additive members" in text for text in reasons)
    mixed = EnsembleRejectClassifier(["logistic", "extra-trees"], cv=3).fit(frame, y)
    share = mixed.weights_["logistic"] / sum(mixed.weights_.values())
    assert f"(by the additive members, {share:.0%} of the weight)" in mixed.decide(frame).reason[old]


def test_a_linear_model_of_the_users_own_is_a_sum(table):
    frame, y = table
    model = EnsembleRejectClassifier([("mine", LogisticRegression())], cv=2).fit(frame[["age", "noise"]], y)
    assert "age" in model.decide(frame[["age", "noise"]])[0:1].reason[0]


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
    seen, unseen, missing = model.decide(new).reason
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
