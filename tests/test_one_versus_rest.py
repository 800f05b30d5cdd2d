"""One machine per class: its prices say the same as the prices of all classes, and its scores give the best answer."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from recuse import Costs
from recuse.decisions import least_cost
from recuse.one_versus_rest import PricedOdds, against_the_rest, evaluate_machines, near_a_change, require_every_class

SEEDS = st.integers(0, 10_000)


def random_prices(rng, n_classes):
    """Prices of every answer to every class, at some of which a wrong answer costs less than a review."""
    errors = rng.choice([0.3, 1.0, 2.0, 10.0], size=(n_classes, n_classes)) * rng.uniform(0.5, 2, (n_classes,) * 2)
    np.fill_diagonal(errors, 0.0)
    return Costs(errors=errors, reject=rng.uniform(0.05, 0.8, n_classes))


def sides(p, problem):
    """Probability of the side of a class, its classes weighted as its machine sees them."""
    weighted = p * problem.factors
    total = weighted.sum(axis=1)
    return np.where(total > 0, weighted[:, problem.positive].sum(axis=1) / np.where(total > 0, total, 1.0), 1.0)


@given(seed=SEEDS, n_classes=st.integers(3, 6))
@settings(max_examples=100, deadline=None)
def test_a_machine_that_is_right_answers_its_class_where_that_costs_less_than_a_review(seed, n_classes):
    rng = np.random.default_rng(seed)
    costs = random_prices(rng, n_classes)
    assume(costs.rejecting_pays)
    matrix, shares = costs.matrix(n_classes), rng.uniform(0.1, 5, n_classes)
    p = rng.dirichlet(np.full(n_classes, 0.5), size=300)
    for k, problem in enumerate(against_the_rest(costs, shares)):
        saved = p @ (matrix[:-1, -2] - matrix[:-1, k])
        own, threshold = sides(p, problem), problem.costs.thresholds[1]
        clear = (np.abs(saved) > 1e-9) & (np.abs(own - threshold) > 1e-9)
        assert problem.positive[k]
        assert problem.costs.rejecting_pays
        np.testing.assert_array_equal((own > threshold)[clear], (saved > 0)[clear])


@given(seed=SEEDS, n_classes=st.integers(3, 6))
@settings(max_examples=100, deadline=None)
def test_the_cases_that_are_reviewed_are_those_that_chow_would_review(seed, n_classes):
    rng = np.random.default_rng(seed)
    costs = random_prices(rng, n_classes)
    assume(costs.rejecting_pays)
    problems = against_the_rest(costs, rng.uniform(0.1, 5, n_classes))
    p = np.clip(rng.dirichlet(np.full(n_classes, 0.5), size=300), 1e-12, None)
    p /= p.sum(axis=1, keepdims=True)
    _, r = least_cost(p, costs.matrix(n_classes))
    f = logit(np.clip(np.column_stack([sides(p, problem) for problem in problems]), 1e-15, 1 - 1e-15))
    prices = [problem.costs for problem in problems]
    thresholds = np.array([logit(each.thresholds[1]) for each in prices])
    found = evaluate_machines(f, PricedOdds.of(prices)(f), thresholds)
    clear = (np.abs(r) > 1e-9) & (np.abs(f - thresholds) > 1e-7).all(axis=1)
    # Whether there is an answer worth giving is exact; which of several, at prices by class, rests on averages.
    np.testing.assert_array_equal(found.accepted[clear], (r > 0)[clear])
    assert clear.sum() > 100


@pytest.mark.parametrize("reject", [0.2, 0.5, 0.6])
def test_equal_prices_give_the_most_probable_class(reject):
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=500)
    problems = against_the_rest(Costs(reject=reject), np.array([1.0, 2, 3, 4]))
    assert all((problem.factors == 1).all() for problem in problems)
    assert all(problem.costs.thresholds[1] == pytest.approx(1 - reject) for problem in problems)
    f = logit(p)
    h = PricedOdds.of([problem.costs for problem in problems])(f)
    np.testing.assert_array_equal(h, f)
    found = evaluate_machines(f, h, np.full(4, logit(1 - reject)))
    np.testing.assert_array_equal(found.forced(), p.argmax(axis=1))
    np.testing.assert_array_equal(found.accepted, p.max(axis=1) > 1 - reject)


def test_errors_priced_by_the_answer_give_the_cheapest_answer():
    errors = np.outer(np.ones(3), [1.0, 4.0, 10.0])
    np.fill_diagonal(errors, 0.0)
    costs = Costs(errors=errors, reject=0.7)
    problems = against_the_rest(costs, np.array([5.0, 2.0, 1.0]))
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=1000)
    found = PricedOdds.of([problem.costs for problem in problems])(logit(p)).argmax(axis=1)
    np.testing.assert_array_equal(found, (p @ costs.matrix(3)[:-1, :3]).argmin(axis=1))


@given(seed=SEEDS)
@settings(max_examples=50, deadline=None)
def test_an_answer_grows_with_the_score_of_its_machine_and_no_faster(seed):
    rng = np.random.default_rng(seed)
    costs = random_prices(rng, 4)
    assume(costs.rejecting_pays)
    compare = PricedOdds.of([problem.costs for problem in against_the_rest(costs, np.ones(4))])
    f = rng.normal(0, 10, size=(100, 4))
    step = np.abs(rng.normal(0, 1, size=(100, 4)))
    gained = compare(f + step) - compare(f)
    assert (gained >= -1e-9).all()
    assert (gained <= step + 1e-9).all()
    assert np.isfinite(compare(np.array([[-800.0, 800.0, 0.0, -800.0]]))).all()


def test_two_classes_would_have_their_own_prices():
    costs = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.4)
    matrix = Costs(errors=[[0, 1], [5, 0]], reject=[0.2, 0.4])
    no, yes = against_the_rest(matrix, np.array([3.0, 1.0]))
    assert yes.costs == costs
    assert no.costs == costs.swapped()


def test_equally_good_answers_are_ambiguous():
    f = np.array([[2.0, 2.0, -1.0], [2.0, 1.9, -1.0]])
    found = evaluate_machines(f, f, np.zeros(3))
    assert found.accepted.tolist() == [False, True]
    assert near_a_change(f, f, np.zeros(3), np.full(f.shape, 1e-12)).tolist() == [True, False]
    assert near_a_change(f, f, np.array([0, 1.9, 0]), np.full(f.shape, 1e-12)).tolist() == [True, True]


def test_a_class_without_weight_is_named():
    with pytest.raises(ValueError, match="no case of class 'b'"):
        require_every_class(np.array([0, 1, 2]), np.array([1.0, 0.0, 1.0]), np.array(["a", "b", "c"]))


def test_a_threshold_far_from_a_half_keeps_its_digits():
    problem = against_the_rest(Costs(reject=1e-6), np.ones(3))[0]
    assert problem.costs.thresholds[1] == pytest.approx(1 - 1e-6, rel=1e-12)
    assert expit(logit(problem.costs.thresholds[1])) == pytest.approx(1 - 1e-6)
