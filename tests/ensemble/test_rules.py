"""Chow's thresholds, tuned ones, or a rejector learned on top of the blend: which is taken, and what it costs."""

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs, EnsembleRejectClassifier, load, save
from recuse.boosting.abstention.on_top import boost_on_top
from recuse.ensemble.cases import Outcomes
from recuse.ensemble.held_out import UnseenCases
from recuse.ensemble.judging import judge
from recuse.folds import make_folds
from tests.marks import may_reject_all

PRICES = Costs(fp=1, fn=2, reject=0.2)


def draw(n, seed, *, noisy):
    """A linear problem; if `noisy`, nothing can be known between two values of a column that says nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    p = 1 / (1 + np.exp(-2.5 * X[:, 0] - 1.5 * X[:, 1]))
    if noisy:
        p = np.where((X[:, 2] > 0.3) & (X[:, 2] < 1.3), 0.5, p)
    return X, (rng.random(n) < p).astype(int)


def cost(model, X, y):
    decisions = model.decide(X, reasons=False)
    return model.costs_.prices(y, np.where(decisions.accepted, decisions.forced, 2).astype(int)).mean()


@pytest.fixture(scope="module")
def noisy():
    return draw(1500, 0, noisy=True)


@pytest.fixture(scope="module")
def learned(noisy):
    return EnsembleRejectClassifier(["logistic"], costs=PRICES, effort="best").fit(*noisy)


def test_a_learned_rejector_is_taken_where_columns_mark_what_cannot_be_known(noisy, learned):
    assert learned.rule_ == "learned"
    X, y = draw(20_000, 1, noisy=True)
    by_chow = cost(EnsembleRejectClassifier(["logistic"], costs=PRICES, rule="chow").fit(*noisy), X, y)
    assert cost(learned, X, y) < 0.95 * by_chow
    # What is promised was read off cases that the rejector had not seen.
    assert learned.held_out_costs_["blend"] == pytest.approx(cost(learned, X, y), rel=0.08)
    rejected = ~learned.decide(X, reasons=False).accepted
    unknowable = (X[:, 2] > 0.3) & (X[:, 2] < 1.3)
    assert rejected[unknowable].mean() > rejected[~unknowable].mean() + 0.1


def test_only_the_best_effort_tries_one_by_itself(noisy):
    assert EnsembleRejectClassifier(["logistic"], costs=PRICES).fit(*noisy).rule_ != "learned"


def test_there_is_none_where_there_is_no_time_for_it(noisy):
    model = EnsembleRejectClassifier(["logistic"], costs=PRICES, effort="best", time_limit=0.01).fit(*noisy)
    assert model.rule_ != "learned"


def rules_taken(n, copies, seeds):
    """How often another rule is taken where the blend has the true posterior; cases come in copies, kept together."""
    taken = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        p = 1 / (1 + np.exp(-2 * X[:, 0]))
        y = (rng.random(n) < p).astype(np.intp)
        groups = np.repeat(np.arange(n), copies)
        X, p, y = X[groups], p[groups], y[groups]
        parts = make_folds(3, y, groups=groups, random_state=seed)
        odds = np.log(p / (1 - p))[:, None]
        held_out = UnseenCases(odds, Outcomes(y, np.ones(len(y))), parts, np.arange(len(y)), groups)
        taken += judge(p, held_out, PRICES, "auto", X).rule != "chow"
    return taken


def test_another_rule_is_hardly_ever_taken_where_chows_is_right():
    """The margin of two standard errors: about one in forty by chance, for each of two other rules.

    Differences of costs are skewed on so few cases: 7 % of these draws, and 8 % with other versions, whose last digits
    differ.
    """
    assert rules_taken(300, 1, 300) <= 30


def test_cases_of_a_group_are_one_case_for_the_margin():
    """Ten copies of each case are no more evidence than one: without groups ten of thirty were taken."""
    assert rules_taken(300, 5, 30) <= 5


@pytest.mark.parametrize("weight_of_class_1", [1.0, 4.0])
def test_without_anything_to_learn_the_rejector_is_chows_rule(weight_of_class_1):
    """Unequal prices and weights included: the start must be where the prices say."""
    rng = np.random.default_rng(3)
    z = rng.normal(scale=2, size=500)
    y = (rng.random(500) < 1 / (1 + np.exp(-z))).astype(np.intp)
    X = np.zeros((500, 1))
    weights = np.where(y == 1, weight_of_class_1, 1.0)
    odds = z + np.log(weight_of_class_1)  # of the weighted cases
    found = boost_on_top(X, odds, y, weights, PRICES, make_folds(5, y, random_state=0))
    h, r = found.pair.evaluate(np.column_stack([X, odds]))
    low, high = PRICES.thresholds
    p = 1 / (1 + np.exp(-odds))
    # Intercepts may move a little: away from the thresholds nothing changes.
    sure = (np.abs(p - low) > 0.08) & (np.abs(p - high) > 0.08)
    assert ((r > 0) == ((p < low) | (p > high)))[sure].all()
    assert ((h > 0) == (p > PRICES.fp / (PRICES.fp + PRICES.fn)))[sure & (r > 0)].all()


def test_cases_of_weight_0_change_nothing(noisy):
    X, y = noisy
    everybody = np.arange(len(y))
    folds = [(everybody[everybody % 3 != part], everybody[everybody % 3 == part]) for part in range(3)]
    odds = 2.5 * X[:, 0] + 1.5 * X[:, 1]
    weights = np.ones(len(y))
    weights[::7] = 0
    kept = np.flatnonzero(weights)
    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    whole = boost_on_top(X, odds, y.astype(np.intp), weights, PRICES, folds)
    fewer = [tuple(place[rows][place[rows] >= 0] for rows in fold) for fold in folds]
    part = boost_on_top(X[kept], odds[kept], y[kept].astype(np.intp), np.ones(len(kept)), PRICES, fewer)
    new = np.column_stack([X, odds])
    assert whole.pair.evaluate(new)[1] == pytest.approx(part.pair.evaluate(new)[1], abs=1e-8)
    assert whole.paid[kept] == pytest.approx(part.paid)
    assert not whole.paid[::7].any()


def test_reasons_name_the_columns_that_speak_for_rejection(noisy, learned):
    X, _ = noisy
    cases = X[(X[:, 2] > 0.4) & (X[:, 2] < 1.2)]
    decisions = learned.decide(cases)
    rejected = [text for text, is_in in zip(decisions.reason, decisions.accepted, strict=True) if not is_in]
    assert len(rejected) > 0.8 * len(cases)
    assert all("rejected by the learned rejector (x2 " in text for text in rejected)
    assert learned.thresholds_ == PRICES.thresholds


def test_a_saved_learned_rejector_answers_alike(noisy, learned, tmp_path):
    X, _ = noisy
    save(learned, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert list(again.decide(X[:50]).reason) == list(learned.decide(X[:50]).reason)
    assert again.score_samples(X) == pytest.approx(learned.score_samples(X), abs=1e-9)


def test_a_frame_with_categories_and_swapped_prices(noisy):
    X, y = noisy
    frame = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(X[:, 3] > 0, "Ulm", "Bonn"))
    model = EnsembleRejectClassifier(["logistic"], costs=PRICES, rule="learned").fit(frame, y)
    swapped = EnsembleRejectClassifier(["logistic"], costs=PRICES, rule="learned", pos_label=0).fit(frame, 1 - y)
    assert (model.decide(frame).accepted == swapped.decide(frame).accepted).mean() > 0.99
    assert model.held_out_costs_["blend"] == pytest.approx(swapped.held_out_costs_["blend"], rel=0.02)


@may_reject_all
def test_outcomes_that_nothing_tells_cost_what_a_constant_answer_costs():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 4)), (rng.random(300) < 0.4).astype(int)
    model = EnsembleRejectClassifier(["logistic"], costs=PRICES, rule="learned").fit(X, y)
    new, truth = rng.normal(size=(5_000, 4)), (rng.random(5_000) < 0.4).astype(int)
    assert model.held_out_costs_["blend"] == pytest.approx(0.2, abs=0.03)
    assert cost(model, new, truth) == pytest.approx(0.2, abs=0.03)


def test_tuned_thresholds_are_taken_where_probabilities_are_far_off():
    """A member that is calibrated in the mean only: too sure on one side, not sure enough on the other."""
    rng = np.random.default_rng(0)
    n = 6_000
    z = rng.normal(scale=2, size=n)
    y = (rng.random(n) < np.where(z > 0, 0.98, 1 / (1 + np.exp(-z / 3)))).astype(np.intp)
    p = 1 / (1 + np.exp(-z))
    held_out = UnseenCases(z[:, None], Outcomes(y, np.ones(n)), make_folds(5, y, random_state=0), np.arange(n), None)
    assert judge(p, held_out, Costs(fp=1, fn=1, reject=0.1), "auto").rule == "tuned"


def test_recuse_fit_may_learn_a_rejector(noisy):
    X, y = noisy
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    model = recuse.fit(table, "y", PRICES, effort="quick")
    assert model[-1].rule == "auto"
