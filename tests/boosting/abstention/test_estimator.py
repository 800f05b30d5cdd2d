"""AbstentionBoostingClassifier: prices, choices, missing values, explanations, bad input."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score

import recuse
from recuse import AbstentionBoostingClassifier, Costs
from recuse.boosting.abstention import early_stopping
from recuse.boosting.abstention.early_stopping import Patience, Recorder
from recuse.boosting.abstention.engine import stumps
from recuse.boosting.abstention.engine import weights as case_weights
from recuse.boosting.abstention.engine.rounds import boost
from recuse.boosting.abstention.prices import Prices
from recuse.boosting.abstention.search import FAMILIES
from recuse.boosting.shapes import AdditiveForm
from recuse.datasets import make_noise_by_feature
from recuse.explaining import as_text
from tests.marks import may_reject_all
from tests.processes import LIMIT

from .helpers import make_problem

HARDER = "; harder than the average case by "
FIXED = {"family": "coupled", "beta": 0.005, "threshold": "calibrated", "n_rounds": 40}


@pytest.fixture(scope="module")
def noisy():
    return make_noise_by_feature(600, random_state=0)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, n_features=5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)
    return X, y


@may_reject_all
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize(
    "costs",
    [
        Costs(reject=0.2),
        Costs(fp=1, fn=5, reject=0.4),
        Costs(fp=3, fn=1, reject_negative=0.9, reject_positive=0.2),
    ],
)
def test_constant_features_give_the_cheapest_answer(loss, costs):
    for share in np.linspace(0.04, 0.96, 24):
        n_pos = round(500 * share)
        y = (np.arange(500) < n_pos).astype(int)
        p = n_pos / 500
        prices = np.array(
            [p * costs.fn, (1 - p) * costs.fp, p * costs.reject_positive + (1 - p) * costs.reject_negative]
        )
        if np.diff(np.sort(prices))[0] < 1e-3:
            continue
        model = AbstentionBoostingClassifier(costs=costs, loss=loss, family="coupled", beta=0.1, threshold="calibrated")
        answer = model.fit(np.zeros((500, 1)), y).predict([[0.0]])[0]
        assert answer == [0, 1, -1][int(prices.argmin())]


def test_reject_cost_by_case_is_obeyed():
    # Two groups with the same odds; rejecting is cheap in one and expensive in the other.
    x = np.repeat([0.0, 1.0], 500)
    y = np.tile(np.arange(500) % 4 > 0, 2).astype(int)
    price = np.where(x == 0, 0.1, 0.4)
    for loss in ("logistic", "exponential"):
        model = AbstentionBoostingClassifier(
            loss=loss, family="decoupled", beta=1e-4, threshold="calibrated", n_rounds=400
        )
        answers = model.fit(x[:, None], y, reject_cost=price).predict([[0.0], [1.0]])
        assert answers.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="does not go with family='auto'"):
        AbstentionBoostingClassifier().fit(x[:, None], y, reject_cost=price)
    with pytest.raises(ValueError, match="reject_cost must hold 1000 finite prices"):
        clone(model).fit(x[:, None], y, reject_cost=price[:5])


@may_reject_all  # of the confidence rule it is right to: its score cannot tell where the noise is
def test_the_default_wins_where_the_noise_has_a_feature_of_its_own(noisy):
    X, y = noisy
    fresh, truth = make_noise_by_feature(4000, random_state=1)
    model = AbstentionBoostingClassifier(costs=0.2, n_rounds=60, cv=3, random_state=0).fit(X, y)
    assert model.family_ != "chow"
    ruled = AbstentionBoostingClassifier(costs=0.2, n_rounds=60, cv=3, family="chow", random_state=0).fit(X, y)
    assert 1 - model.score(fresh, truth) < 0.7 * (1 - ruled.score(fresh, truth))
    assert model.held_out_costs_[model.family_] < model.held_out_costs_["chow"]
    rejected = model.predict(fresh) == -1
    assert rejected[fresh[:, 1] < 0.3].mean() > 0.9
    assert rejected[fresh[:, 1] > 0.4].mean() < 0.1
    # The feature with the noise is what the reasons name, and no other. Cells at the edge of the noise can be better
    # than the average and rejected none the less, and the reason says so.
    table = model.decide(fresh)
    named = np.array([bool(re.search(HARDER + r"x1 = \S+$", reason)) for reason in table.reason[~table.accepted]])
    assert named.mean() > 0.9
    assert all("which would be rejected too" in reason for reason in table.reason[~table.accepted][~named])


def test_where_the_intercept_rejects_the_reason_names_what_is_worse_than_the_average_case(data):
    X, y = data
    model = AbstentionBoostingClassifier(costs=0.3, family="decoupled", beta=0.005, threshold="calibrated").fit(X, y)
    form = model._pair.form
    # The same scores, written so that every feature speaks for an answer, and only the intercept against it.
    lows = [(min(*shape.h, shape.missing[0]), min(*shape.r, shape.missing[1])) for shape in form.shapes]
    shapes = [
        replace(shape, h=shape.h - h, r=shape.r - r, missing=(shape.missing[0] - h, shape.missing[1] - r))
        for shape, (h, r) in zip(form.shapes, lows, strict=True)
    ]
    h0, r0 = np.add([form.h0, form.r0], np.sum(lows, axis=0)).tolist()
    same = model._with_forms([AdditiveForm(h0, r0, shapes)])
    assert (same._pair.form.contributions(X)[1] >= 0).all()
    np.testing.assert_allclose(form.deviations(X), same._pair.form.deviations(X), atol=1e-12)
    np.testing.assert_allclose(np.mean(form.deviations(X), axis=1), 0.0, atol=1e-12)  # over the training cases
    table = same.decide(X)
    rejected = ~table.accepted
    assert 0 < rejected.sum() < len(y)
    assert all(HARDER in reason for reason in table.reason[rejected])
    assert not any(HARDER in reason for reason in table.reason[~rejected])
    assert [reason.partition(HARDER)[2] for reason in model.decide(X).reason] == [
        reason.partition(HARDER)[2] for reason in table.reason
    ]


def test_the_default_is_chows_rule_where_confidence_tells_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = (rng.random(500) < 1 / (1 + np.exp(-2 * X.sum(axis=1)))).astype(int)
    model = AbstentionBoostingClassifier(costs=0.2, n_rounds=40, cv=3, random_state=0).fit(X, y)
    ruled = AbstentionBoostingClassifier(costs=0.2, n_rounds=40, cv=3, random_state=0, family="chow").fit(X, y)
    assert set(model.candidates_) == set(model.held_out_costs_) == {"chow"}  # the others are given up
    assert model.family_ == "chow"
    np.testing.assert_array_equal(model.predict(X), ruled.predict(X))
    np.testing.assert_allclose(ruled.score_samples(X), np.abs(ruled.decision_function(X)) - np.log(4))


@pytest.mark.parametrize("options", [{"stack": "oof"}, {"stack": "start"}, {"max_depth": 2}, {"surrogate": "max"}])
def test_variants_fit_save_and_explain(data, options, tmp_path):
    X, y = data
    model = AbstentionBoostingClassifier(family="coupled", n_rounds=30, random_state=0, **options).fit(X, y)
    assert model.score(X, y) > 0.8
    table = model.decide(X)
    assert all(table.reason)
    recuse.save(model, tmp_path / "model.skops")
    for again in (pickle.loads(pickle.dumps(model)), recuse.load(tmp_path / "model.skops")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert hasattr(model, "shape_functions_") == ("max_depth" not in options)


@pytest.mark.parametrize("options", [{}, {"gamma": 0.5}, {"gamma": 0.5, "step": "paper"}])
def test_stump_sum_equals_the_additive_form(data, options):
    X, y = data
    model = AbstentionBoostingClassifier(**FIXED, **options).fit(X, y)
    h, r = (np.full(len(X), value) for value in model.intercept_)
    for stump, weight in zip(model.stumps_, model.weights_, strict=True):
        values = stump.evaluate(X)
        h, r = h + weight * values[0], r + weight * values[1]
    np.testing.assert_allclose(model.decision_function(X), h, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), r, atol=1e-12)
    for shape in model.shape_functions_:
        assert options or (shape.r <= 0).all()  # a feature can only argue for rejection


def test_one_exponential_fit_answers_at_every_price(data):
    X, y = data
    shared = {**FIXED, "loss": "exponential", "b": 1.0}
    model = AbstentionBoostingClassifier(costs=0.1, **shared).fit(X, y)
    for c in (0.05, 0.2, 0.4):
        ratio = np.sqrt(np.sqrt(c * (1 - c)) / np.sqrt(0.09))
        direct = AbstentionBoostingClassifier(costs=c, **{**shared, "beta": shared["beta"] * ratio}).fit(X, y)
        repriced = model.reprice(c)
        # A step ends when its objective is within 1e-15 of the least, its variables then within the root of that.
        np.testing.assert_allclose(repriced.score_samples(X), direct.score_samples(X), atol=1e-6)
        np.testing.assert_array_equal(model.predict(X, costs=c), direct.predict(X))
        assert repriced.costs_ == Costs(reject=c)
    assert model.costs_ == Costs(reject=0.1)
    with pytest.raises(ValueError, match="weigh the two classes differently"):
        model.reprice(Costs(fp=1, fn=3, reject=0.2))
    with pytest.raises(ValueError, match="Only loss='exponential' with a fixed b"):
        AbstentionBoostingClassifier(**FIXED).fit(X, y).reprice(0.1)


def test_chows_rule_answers_at_every_price(data):
    X, y = data
    shared = {"family": "chow", "beta": 0.01, "n_rounds": 30}
    model = AbstentionBoostingClassifier(costs=0.1, **shared).fit(X, y)
    direct = AbstentionBoostingClassifier(costs=0.3, **shared).fit(X, y)
    np.testing.assert_array_equal(model.reprice(0.3).predict(X), direct.predict(X))


def test_missing_values_are_a_value_of_their_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = (x > 0).astype(int)
    missing = rng.random(600) < 0.3
    y[missing] = rng.integers(0, 2, size=missing.sum())
    X = np.column_stack([np.where(missing, np.nan, x), rng.normal(size=600)])
    for family in ("coupled", "decoupled"):
        model = AbstentionBoostingClassifier(costs=0.2, family=family, beta=0.002, n_rounds=100, random_state=0)
        model.fit(X, y)
        assert model.predict([[np.nan, 0.0], [1.0, 0.0], [-1.0, 0.0]]).tolist() == [-1, 1, 0]
    # A feature without missing values in training: a missing one later argues for rejection.
    complete = AbstentionBoostingClassifier(costs=0.2, **FIXED).fit(x[:, None], (x > 0).astype(int))
    h, r = complete.decision_function([[np.nan]]), complete.score_samples([[np.nan]])
    assert h[0] == complete.intercept_[0]
    assert r[0] <= 0


def test_weights_are_repetitions_and_zero_is_absence(data):
    X, y = data
    weights = np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weights)
    one = AbstentionBoostingClassifier(**FIXED).fit(X, y, sample_weight=weights)
    other = AbstentionBoostingClassifier(**FIXED).fit(X[rows], y[rows])
    # On the cases present: two stumps that agree on all of them are the same to the fit, whatever they say elsewhere.
    present = X[weights > 0]
    np.testing.assert_allclose(one.score_samples(present), other.score_samples(present), atol=1e-8)


def test_weights_are_repetitions_in_bins_too(data):
    X, y = data
    weights = 1 + np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weights)
    one = AbstentionBoostingClassifier(max_bins=8, **FIXED).fit(X, y, sample_weight=weights / 7)
    other = AbstentionBoostingClassifier(max_bins=8, **FIXED).fit(X[rows], y[rows])
    assert any(len(shape.cuts) for shape in one.shape_functions_)
    for mine, theirs in zip(one.shape_functions_, other.shape_functions_, strict=True):
        np.testing.assert_array_equal(mine.cuts, theirs.cuts)
        np.testing.assert_allclose(mine.r, theirs.r, atol=1e-8)


def test_held_out_prices_are_weighted():
    prices = Prices(np.array([1.0, 4.0, 1.0]), np.full(3, 0.2), np.array([3.0, 1.0, 0.5]))
    y, h, r = np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0])
    np.testing.assert_array_equal(prices.of(y, h, r), [0.0, 4.0, 0.2])
    assert prices.mean(y, h, r) == pytest.approx((4.0 + 0.5 * 0.2) / 4.5)
    assert prices.take(np.array([1, 2])).mean(y[1:], h[1:], r[1:]) == pytest.approx((4.0 + 0.1) / 1.5)


def test_bins_and_threads(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(stumps, "_WORTH_THREADS", 0)  # so few cases would not wake them
    monkeypatch.setattr(case_weights, "_WORTH_A_THREAD", 0)
    exact = AbstentionBoostingClassifier(max_bins=None, **FIXED).fit(X, y)
    coarse = AbstentionBoostingClassifier(max_bins=16, **FIXED).fit(X, y)
    threaded = AbstentionBoostingClassifier(max_bins=None, n_jobs=2, **FIXED).fit(X, y)
    np.testing.assert_array_equal(exact.score_samples(X), threaded.score_samples(X))
    assert max(len(shape.cuts) for shape in coarse.shape_functions_) <= 15
    accepted = coarse.predict(X) >= 0
    assert accuracy_score(y[accepted], coarse.predict(X)[accepted]) > 0.85
    default = AbstentionBoostingClassifier(**FIXED).fit(X, y)
    fine = AbstentionBoostingClassifier(max_bins=255, **FIXED).fit(X, y)
    np.testing.assert_array_equal(fine.score_samples(X), default.score_samples(X))
    rounded = np.round(X, 1)  # few distinct values: a bin for each, so that the default is exact
    assert max(len(np.unique(column)) for column in rounded.T) <= 255
    exact = AbstentionBoostingClassifier(max_bins=None, **FIXED).fit(rounded, y)
    default = AbstentionBoostingClassifier(**FIXED).fit(rounded, y)
    single = rounded.astype(np.float32)
    np.testing.assert_allclose(exact.score_samples(single), default.score_samples(single))


def test_certified_optimum_and_its_attributes(data):
    X, y = data
    model = AbstentionBoostingClassifier(family="coupled", beta=0.02, corrective=True, threshold="calibrated", tol=1e-9)
    model.fit(X, y)
    assert 0 <= model.dual_gap_ <= 1e-6 * model.objective_
    assert model.residual_ <= 1e-9
    greedy = AbstentionBoostingClassifier(family="coupled", beta=0.02, threshold="calibrated").fit(X, y)
    assert model.objective_ <= greedy.objective_ <= model.objective_ + greedy.dual_gap_
    with pytest.warns(ConvergenceWarning, match="Raise n_rounds or tol"):
        AbstentionBoostingClassifier(family="coupled", beta=0.001, corrective=True, n_rounds=2).fit(X, y)


def test_early_stopping_takes_fewer_rounds(noisy):
    X, y = noisy
    model = AbstentionBoostingClassifier(family="coupled", beta=0.0, early_stopping=True, random_state=0).fit(X, y)
    assert 0 < model.n_iter_ < 200
    assert set(model.held_out_costs_) == {"coupled"}


@pytest.mark.parametrize("options", [{}, {"max_depth": 2}])
def test_early_stopping_without_a_useful_stump_keeps_the_intercepts(options):
    y = (np.arange(100) % 10 > 0).astype(int)
    shared = {"costs": 0.3, "beta": 5.0, "family": "decoupled", "threshold": "calibrated", "random_state": 0}
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = AbstentionBoostingClassifier(early_stopping=True, **shared, **options).fit(X, y)
    assert np.isclose(model.held_out_costs_["decoupled"], 0.1)  # everybody is told 1, which is wrong for a tenth
    none = AbstentionBoostingClassifier(early_stopping=True, n_rounds=0, **shared, **options).fit(X, y)
    assert none.n_iter_ == 0


@pytest.mark.parametrize("options", [{}, {"max_bins": 8}, {"max_depth": 2, "cv": 2}])
def test_cases_of_weight_zero_are_as_if_they_were_not_there(data, options):
    X, y = data
    fixed = {**FIXED, "random_state": 0, "family": "decoupled", **options}
    kept = np.arange(len(y)) % 3 > 0
    without = AbstentionBoostingClassifier(**fixed).fit(X[kept], y[kept])
    weighted = AbstentionBoostingClassifier(**fixed)
    if "max_depth" in options:  # the folds are drawn from the rows that count
        weighted.set_params(cv=None)
        without.set_params(cv=None).fit(X[kept], y[kept])
    weighted.fit(X, y, sample_weight=kept.astype(float))
    np.testing.assert_allclose(weighted.score_samples(X), without.score_samples(X), atol=1e-10)


@pytest.mark.parametrize("options", [{"family": "coupled"}, {"family": "decoupled", "max_depth": 2}])
def test_early_stopping_stops(noisy, options, monkeypatch):
    X, y = noisy
    rounds = []
    monkeypatch.setattr(
        early_stopping, "Recorder", lambda *args, **kwargs: rounds.append(Recorder(*args, **kwargs)) or rounds[-1]
    )
    shared = {"beta": 0.0, "early_stopping": True, "n_rounds": 2000, "random_state": 0}
    model = AbstentionBoostingClassifier(**shared, **options).fit(X, y)
    assert len(rounds) == 5
    assert max(recorder.n_rounds for recorder in rounds) < 1000
    assert model.n_iter_ <= max(recorder.n_rounds for recorder in rounds)


@pytest.mark.parametrize(("turn", "end"), [(10, 13), (2, 8), (40, 40)])
def test_patience_ends_a_fit_after_rounds_without_a_lower_loss(noisy, turn, end):
    """The held-out loss falls until round `turn` and rises then; rounds before the fifth are not judged."""
    problem, _ = make_problem(noisy[0], np.where(noisy[1] == 1, 1, -1))
    recorder = Recorder(problem, np.array([1, 40]), patience=Patience(5, 3))
    for n in range(1, 41):
        recorder.n_rounds = n
        h = 0.05 * problem.y * (turn - abs(turn - n))
        if recorder.note(h, np.zeros(len(h))):
            break
    assert n == end
    np.testing.assert_array_equal(recorder.scores[1, 0], h)
    assert recorder.scores[0, 0] @ problem.y == pytest.approx(0.05 * len(h))


def test_early_stopping_compares_rounds_of_the_same_loss(noisy):
    X, y = noisy
    shared = {"family": "coupled", "surrogate": "max", "beta": 0.001, "early_stopping": True, "random_state": 0}
    model = AbstentionBoostingClassifier(n_rounds=90, **shared).fit(X, y)
    assert model.n_iter_ >= 60  # the rounds until the loss is (nearly) the maximum
    # A longer limit changes what may be chosen, not what a given number of rounds means.
    problem, scores = make_problem(X, np.where(y == 1, 1, -1), p=32.0)[0], []
    for limit in (70, 90):
        settings = AbstentionBoostingClassifier(n_rounds=limit, **shared)._settings(len(y))
        recorder = Recorder(problem, np.array([70]))
        boost(problem, settings, recorder)
        scores.append(recorder.scores)
    np.testing.assert_array_equal(*scores)


@may_reject_all
@pytest.mark.parametrize("options", [{"family": "coupled", "beta": 0.01}, {"family": "chow", "loss": "exponential"}])
def test_the_largest_weights_are_weights(data, options):
    X, y = data
    fits = [
        AbstentionBoostingClassifier(cv=2, random_state=0, **options).fit(X, y, sample_weight=np.full(len(y), size))
        for size in (1.0, 1e308, 1e-320)
    ]
    for model in fits[1:]:
        np.testing.assert_array_equal(model.predict(X), fits[0].predict(X))
    alone = np.where(np.arange(len(y)) < 20, 1e308, 1.0)
    model = AbstentionBoostingClassifier(cv=2, random_state=0, **options).fit(X, y, sample_weight=alone)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.score_samples(X)).all()


def test_separable_data_stop_with_a_warning():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 17).astype(int)
    model = AbstentionBoostingClassifier(family="coupled", beta=0.0, threshold="calibrated", n_rounds=5000)
    with pytest.warns(ConvergenceWarning, match="Give beta a positive value"):
        model.fit(X, y)
    assert model.n_iter_ < 5000
    np.testing.assert_array_equal(model.predict(X), y)


def test_bound_is_a_bound_and_says_when_it_says_nothing(data):
    X, y = data
    model = AbstentionBoostingClassifier(costs=0.2, **FIXED).fit(X, y)
    bound = model.generalization_bound(0.05)
    assert bound.total > 1 - model.score(X, y)
    assert bound.vacuous
    assert bound.empirical >= 1 - model.score(X, y)  # L_MB dominates the abstention loss
    assert model.generalization_bound(0.01).total > bound.total
    euros = AbstentionBoostingClassifier(costs=Costs(fp=300, fn=300, reject=60), **FIXED).fit(X, y)
    assert euros.generalization_bound(0.05).total == pytest.approx(bound.total)  # in units of an error
    with pytest.raises(ValueError, match="at equal error prices"):
        AbstentionBoostingClassifier(costs=Costs(fp=1, fn=2, reject=0.2), **FIXED).fit(X, y).generalization_bound()
    # All weights count, those of the intercepts and what the threshold takes off one of them included.
    tuned = AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=20, random_state=0).fit(X, y)
    rest = tuned._bound.total_weight - tuned.weights_.sum() - abs(tuned.intercept_[0])
    assert rest == pytest.approx(abs(tuned.intercept_[1] - tuned.threshold_))
    with pytest.raises(ValueError, match="The bound is for stumps"):
        AbstentionBoostingClassifier(family="chow", beta=0.01).fit(X, y).generalization_bound()


@pytest.mark.parametrize("family", FAMILIES)
def test_swapped_labels_swap_the_answers(noisy, family):
    X, y = noisy
    shared = {"n_rounds": 30, "beta": 0.01, "family": family, "random_state": 0, "threshold": "calibrated"}
    one = AbstentionBoostingClassifier(costs=Costs(fp=1, fn=3, reject=0.3), **shared).fit(X, y)
    other = AbstentionBoostingClassifier(costs=Costs(fp=3, fn=1, reject=0.3), **shared).fit(X, 1 - y)
    pos = AbstentionBoostingClassifier(costs=Costs(fp=1, fn=3, reject=0.3), pos_label=0, **shared).fit(X, 1 - y)
    np.testing.assert_array_equal(other.predict(X), pos.predict(X))
    agree = one.predict(X) == np.where(other.predict(X) < 0, -1, 1 - other.predict(X))
    assert agree.mean() > 0.97


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": 0.5}, "Rejecting never pays"),
        ({"costs": Costs(fp=1, fn=1, reject=0.7)}, "Rejecting never pays"),
        ({"beta": -0.1}, "beta must be a finite number at least 0; got -0.1"),
        ({"beta": "best"}, "beta must be a finite number at least 0; got 'best'"),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'exponential'; got 'hinge'"),
        ({"family": "stumps"}, "family must be one of"),
        ({"surrogate": "mean"}, "surrogate must be one of"),
        ({"stack": "in-sample"}, "stack must be one of None, 'oof', 'start'"),
        ({"step": "newton"}, "step must be one of"),
        ({"threshold": 0.3}, "threshold must be one of"),
        ({"max_bins": 1000}, "max_bins must be 'auto', None"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number greater than 0 and at most 1"),
        ({"n_rounds": -1}, "n_rounds must be 0 or more"),
        ({"max_depth": 0}, "max_depth must be 1 or more"),
        ({"b": 0.0}, "b must be a finite number greater than 0"),
        ({"b": np.inf}, "b must be a finite number greater than 0; got inf"),
        ({"tol": np.inf}, "tol must be a finite number at least 0; got inf"),
        ({"corrective": "no"}, "corrective must be True or False; got 'no'"),
        ({"max_depth": 11}, "max_depth must be 10 or less, as memory doubles with it; got 11"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ({"n_jobs": "two"}, "n_jobs must be None or an integer other than 0 .* got 'two'"),
        ({"early_stopping": 1}, "early_stopping must be True or False; got 1"),
        ({"early_stopping": True}, "early_stopping=True chooses the number of rounds, .* give beta a number"),
        ({"corrective": True, "family": "chow"}, "corrective=True needs a pair of scores"),
        ({"gamma": 0.5, "family": "decoupled"}, "gamma > 0 belongs to the paper's stumps"),
        ({"gamma": 0.5}, "gamma > 0 belongs to the paper's stumps"),
        ({"corrective": True, "surrogate": "max"}, "corrective=True needs"),
        ({"surrogate": "max", "b": 0.1, "costs": 0.3, "family": "coupled"}, "b must be greater than 2c"),
    ],
)
def test_bad_parameters_are_named(data, options, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        AbstentionBoostingClassifier(**options).fit(X, y)


@pytest.mark.parametrize("options", [{"family": "coupled"}, {"family": "decoupled"}, {"stack": "start", "cv": 3}])
def test_columns_in_a_reason_are_those_of_the_shape_functions(data, options):
    X, y = data
    settings = {"costs": 0.3, "family": "coupled", "beta": 0.005, "threshold": "calibrated", "random_state": 0}
    model = AbstentionBoostingClassifier(**{**settings, **options}).fit(X, y)
    seen = set()
    added = np.zeros((2, *X.shape))
    for shape in model.shape_functions_:  # less what the feature adds to the training cases on average
        of_shape = np.array(shape.evaluate(X[:, shape.feature]))
        added[:, :, shape.feature] = of_shape - of_shape.mean(axis=1, keepdims=True)
    for decision, of_h, of_r, case in zip(model.decide(X, reasons="all"), *added, X, strict=True):
        seen.add(decision.kind)
        said = "not above 0" if not decision.accepted else f"is above 0: {decision.label!r}"
        assert decision.reason.startswith(f"acceptance score {decision.r:.2f} is {said.removeprefix('is ')}")
        strongest = int(np.abs(of_h).argmax())
        assert re.search(
            rf"x{strongest} = {re.escape(shown(case[strongest]))}\b[^;]* for {int(of_h[strongest] > 0)}",
            decision.reason,
        )
        assert (" (beside the score that it starts from)" in decision.reason) == ("stack" in options)
        hardest = int(of_r.argmin())
        if decision.accepted:
            assert HARDER not in decision.reason
        elif of_r[hardest] < 0:
            assert decision.reason.partition(HARDER)[2].startswith(f"x{hardest} = {shown(case[hardest])}")
    assert seen == {"accept", "ambiguity"}


def shown(value):
    """A value as a reason writes it."""
    return as_text("x", value).removeprefix("x = ")


def test_chows_rule_names_what_speaks_for_each_class(data):
    X, y = data
    labels = np.where(y == 1, "bad", "good")
    costs = Costs(fp=1, fn=3, reject=0.4)
    model = AbstentionBoostingClassifier(costs=costs, family="chow", beta=0.005, pos_label="bad").fit(X, labels)
    shapes = {shape.feature: shape for shape in model.shape_functions_}
    seen = set()
    for i, decision in enumerate(model.decide(X, reasons="all")):
        seen.add(decision.kind)
        verdict, _, columns = decision.reason.partition(": ")
        numbers = [float(word) for word in verdict.split() if word.lstrip("-")[:1].isdigit()]
        assert np.isclose(numbers[0], -decision.h, rtol=0.01)  # h is towards 'good'
        assert verdict.startswith(f"score {-decision.h:.3g} towards 'bad' ")
        if decision.accepted:
            assert ("is above" in verdict) == (decision.label == "bad") == (numbers[0] > numbers[1])
        else:
            assert numbers[1] <= numbers[0] <= numbers[2]
        added = {
            f: shape.evaluate(X[i : i + 1, f])[0][0] - shape.evaluate(X[:, f])[0].mean() for f, shape in shapes.items()
        }
        strongest = max(added, key=lambda f: abs(added[f]))
        label = "good" if added[strongest] > 0 else "bad"
        sides = dict(reversed(re.split(" speaks? for ", side)) for side in re.split("(?<='), ", columns))
        assert f"x{strongest} = {shown(X[i, strongest])}" in sides[repr(label)]
    assert seen == {"accept", "ambiguity"}


def test_bad_data_are_named(data):
    X, y = data
    model = AbstentionBoostingClassifier(**FIXED)
    empty = pd.DataFrame(X, columns=list("abcde")).assign(c=np.nan)
    with pytest.raises(ValueError, match=r"Every value is missing in the columns \['c'\]"):
        model.fit(empty, y)
    with pytest.raises(ValueError, match="Only cases of one class have a positive sample_weight"):
        model.fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match="Only binary classification"):
        clone(model).set_params(b=1.0).fit(X, np.arange(len(y)) % 3)
    few = AbstentionBoostingClassifier(costs=0.2)
    with pytest.raises(ValueError, match="needs two cases of each class"):
        few.fit(X[:5], [0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="reject_cost must hold 300 finite prices greater than 0, one per case; got"):
        AbstentionBoostingClassifier(family="coupled", beta=0.01).fit(X, y, reject_cost=["a"] * 300)


def test_prediction_does_not_load_the_compiler(data, tmp_path):
    X, y = data
    recuse.save(AbstentionBoostingClassifier(**FIXED).fit(X, y), tmp_path / "model.skops")
    code = f"""
import sys, numpy as np, recuse
model = recuse.load({str(tmp_path / "model.skops")!r})
model.decide(np.zeros((3, 5)))
print("numba" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    assert result.stdout.strip() == "False", result.stderr


def test_frames_and_their_names(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["age", "income", "debt", "visits", "score"])
    model = AbstentionBoostingClassifier(costs=0.1, **FIXED).fit(frame, np.where(y == 1, "yes", "no"))
    table = model.decide(frame)
    assert set(model.predict(frame)) == {"yes", "no", "[abstain]"}
    assert all(any(name in reason for name in frame) for reason in table.reason)
