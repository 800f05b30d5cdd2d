"""Plans of reviewers' hours: exact where there is no chance, right on average, and the queue against a formula."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse import Costs
from recuse.staffing import Forecast, PricedCases, Volume, plan_capacity
from recuse.staffing.backlog import replay_backlog
from recuse.staffing.costing import replay

COSTS = Costs(fp=1, fn=5, reject=0.3)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    probability = rng.beta(0.7, 1.5, n)
    positive = rng.random(n) < probability
    r = 0.3 - np.minimum(5 * probability, 1 - probability)
    forced = (probability > COSTS.break_even).astype(np.intp)
    return PricedCases.of((r <= 0).astype(np.intp), r, forced, positive.astype(float), COSTS)


def volume(cases=2000, **options):
    return Volume(cases, "month", **({"minutes_per_case": 6} | options))


def expected_cost(cases, arrivals, reviews):
    """What a month costs if the cases of the sample come in exactly their shares: counted in small parts of a case."""
    order = np.argsort(cases.r[cases.rejected], kind="stable")
    share = arrivals / len(cases)
    saved = (cases.answered - cases.reviewed)[cases.rejected][order]
    done = np.clip(reviews - share * np.arange(len(saved)), 0, share)
    return share * cases.answered.sum() - (done * saved).sum()


def test_prices_of_cases_are_those_of_the_price_matrix():
    costs = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.4, reject_novelty=0.7)
    kinds, forced = np.array([0, 1, 2, 0, 1]), np.array([1, 1, 0, 0, 0])
    cases = PricedCases.of(kinds, np.zeros(5), forced, np.array([0.0, 1.0, 1.0, 1.0, 0.25]), costs)
    assert cases.answered.tolist() == [1, 0, 5, 5, 1.25]
    assert np.allclose(cases.reviewed[[1, 2, 4]], [0.4, 0.7, 0.25 * 0.4 + 0.75 * 0.2])
    assert cases.rejected.tolist() == [False, True, True, False, True]
    assert cases.largest == 5


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3, 0.8, 1.5]))
def test_the_cost_of_a_large_month_is_that_of_the_sample_on_average(seed, share):
    cases, arrivals = sample(400, seed), 1e6
    reviews = share * arrivals * cases.rejected.mean()
    found = replay(cases, arrivals, np.array([reviews]), np.random.default_rng(seed), replays=300)
    mean, error = found.costs.mean(), found.costs.std() / np.sqrt(300)
    # Where the queue ends is left to chance, and what it saves is not linear there: a curvature of second order.
    assert abs(mean - expected_cost(cases, arrivals, reviews)) < 5 * error + 0.01 * mean


def test_more_time_never_costs_more_where_every_review_saves():
    cases = sample(500, 1)
    saving = PricedCases(cases.rejected, cases.r, cases.answered + 1, cases.reviewed, cases.largest)
    found = replay(saving, 800, np.arange(0, 900, 50.0), np.random.default_rng(0), replays=50)
    assert (np.diff(found.costs, axis=1) <= 1e-9).all()
    assert (found.worth >= -1e-9).all()
    assert np.allclose(found.worth[:, -1], 0)  # time that nobody needs
    assert (found.unseen_costs >= found.costs).all()


def test_the_worth_of_an_hour_is_the_slope_of_the_cost():
    cases = sample(3000, 2)
    needed = 2000 * cases.rejected.mean()
    capacities = needed * np.array([0.3, 0.45, 0.5, 0.55, 0.7])
    found = replay(cases, 2000, capacities, np.random.default_rng(0), replays=400)
    slope = (found.costs[:, 1] - found.costs[:, 3]) / (capacities[3] - capacities[1])
    assert np.allclose(slope, found.worth[:, 2])  # in every replay: the window is a twentieth on either side


def test_without_any_chance_left_a_plan_is_certain():
    """Every case is rejected and costs the same."""
    certain = PricedCases(np.ones(50, bool), np.zeros(50), np.full(50, 2.0), np.full(50, 0.5), 2.0)
    plan = plan_capacity(certain, volume(1000), hours=50)
    assert plan.level.reviews == 500
    # 500 are reviewed at 0.5, the others, about 500 of them, are answered at 2.
    assert plan.level.cost.value == pytest.approx(500 * 0.5 + 500 * 2, rel=0.01)
    assert plan.level.next_hour == pytest.approx((15, 15, 15))
    assert plan.rejected.low == pytest.approx(1000 - 1.96 * np.sqrt(1000), abs=8)


def test_a_queue_that_is_overrun_grows_by_what_is_left_over():
    queue = replay_backlog(300, 1000, 100.0, 20.0, 50, 7, np.random.default_rng(0), 2000)
    mean = queue[:, -1].mean()
    assert mean == pytest.approx(7 + 50 * (100 * 300.5 / 1001 - 20), abs=4 * queue[:, -1].std() / np.sqrt(2000))


def test_a_queue_with_room_to_spare_waits_as_pollaczek_and_khinchine_say():
    """One review a day and Poisson arrivals: the number that wait at the end of a day, in the long run."""
    load = 0.8
    queue = replay_backlog(10**9, 10**9, load, 1.0, 400, 0, np.random.default_rng(1), 4000)[:, 300:]
    # Fixed service in slots: after the service of a day, the mean is load^2 / (2 (1 - load)).
    assert queue.mean() == pytest.approx(load**2 / (2 * (1 - load)), rel=0.05)


def test_fractions_of_a_review_are_not_lost():
    always = replay_backlog(1, 1, 1e5, 2.5, 10, 0, np.random.default_rng(0), 1)
    rng = np.random.default_rng(0)
    share = rng.beta(1.5, 0.5, size=1)
    new = rng.poisson(1e5 * share[:, None], size=(1, 10)).sum()
    assert always[0, -1] == new - 25


def test_plans_speak_in_lines_and_in_json():
    plan = plan_capacity(sample(400, 3), volume(currency="EUR"), days=40)
    text = "\n".join(plan.lines())
    assert text.startswith("2,000 cases a month: ")
    assert "after day  30" in text
    assert "after day  40" in text
    assert text.count(" EUR [") == 2 * len(plan.levels)
    assert json.loads(json.dumps(plan.as_dict(), allow_nan=False))["sample"] == 400
    assert plan.hours % 120 == 0  # whole people
    assert plan.hours >= plan.hours_needed.value * 0.98
    assert len(plan.waiting) == 40


def test_nothing_rejected_needs_no_hours():
    cases = sample(100, 4)
    none = PricedCases(np.zeros(100, bool), cases.r, cases.answered, cases.reviewed, 5.0)
    plan = plan_capacity(none, volume(), days=5)
    assert plan.hours_needed == Forecast(0, 0, 0)
    assert all(level.next_hour == Forecast(0, 0, 0) for level in plan.levels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"volume": volume(minutes_per_case=None)}, "minutes_per_case is missing"),
        ({"hours": 0}, "hours must be a finite number greater than 0"),
        ({"days": 0}, "days must be 1 or more"),
        ({"waiting": -1}, "waiting must be 0 or more"),
    ],
)
def test_plans_that_cannot_be_made_say_why(options, message):
    with pytest.raises(ValueError, match=message):
        plan_capacity(sample(50, 0), **({"volume": volume()} | options))


def test_the_sentence_speaks_of_the_same_figures():
    plan = plan_capacity(sample(400, 3), volume(currency="EUR"), hours=1000, days=1)
    shown = "\n".join(plan.lines())
    for amount in plan.sentence().partition("saves ")[2].split(" on average; where there is half of it, "):
        assert amount.rstrip(".") in shown
    none = PricedCases(np.zeros(9, bool), np.ones(9), np.zeros(9), np.ones(9), 5.0)
    assert plan_capacity(none, volume(), days=1).sentence().startswith("No case goes to manual review")


def test_what_is_expected_lies_between_its_limits():
    """One replay of a hundred has a queue: the mean is above more than 95 % of them."""
    rare = np.zeros(100)
    rare[0] = 50.0
    for values in (rare, -rare, 1 - rare):
        forecast = Forecast.of(values)
        assert forecast.low <= forecast.value <= forecast.high
    assert Forecast.of(np.arange(1001.0)) == pytest.approx((500, 25, 975))
