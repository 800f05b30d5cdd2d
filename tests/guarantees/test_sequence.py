"""Sequences of thresholds: what holds whatever the cases, and promises against the truth."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from recuse import Costs
from recuse.guarantees.claims import Claims, PromiseGroups
from recuse.guarantees.promises import as_promises
from recuse.guarantees.risks import ForcedAnswers
from recuse.guarantees.sequence import Seen, certify, place, promise
from recuse.guarantees.terms import PromiseTerms, Shift

PRICES = Costs(fp=1, fn=3, reject=0.3)
ALL = -1.0


def seen(posterior, rng, levels=0, group=None):
    """Cases of known probability; forced to the likelier class, surer the farther from one half."""
    truth = (rng.uniform(size=len(posterior)) < posterior).astype(int)
    score = posterior if not levels else (np.floor(posterior * levels) + 0.5) / levels
    answers = ForcedAnswers(truth, (score > 0.5).astype(int), PRICES)
    groups = None if group is None else PromiseGroups(group, tuple(range(group.max() + 1)))
    return Seen(answers, np.abs(2 * score - 1), groups)


def made(promises, placing, testing, confidence=0.9):
    return promise(as_promises(promises), confidence, placing, testing, lambda t: testing.sure > t, ALL, 100)


def claims_of(wrong, text="error<=0.05"):
    return Claims.of(as_promises(text), ForcedAnswers(np.zeros(len(wrong), int), wrong.astype(int), PRICES), None)


def test_the_sequence_stops_at_the_first_failure():
    sure = np.arange(300, 0, -1, dtype=float)
    wrong = np.zeros(300, dtype=bool)
    wrong[150:200] = True  # the surest 150 are right; the last 100 are right again
    thresholds = np.array([200.5, 150.5, 90.5, 0.0])
    found = certify(lambda t: sure > t, claims_of(wrong), thresholds, 0.95, 300)
    assert found.holds
    assert (found.threshold, found.n_accepted, found.shown[0].total) == (150.5, 150, 0)
    assert found.shown[0].bound == pytest.approx(1 - 0.05 ** (1 / 150))


def test_nothing_passes_when_the_surest_fail():
    sure = np.arange(100.0)
    found = certify(lambda t: sure > t, claims_of(np.ones(100, dtype=bool)), np.array([20.0, -1.0]), 0.9, 100)
    assert not found.holds
    assert np.isinf(found.threshold)
    assert found.shown[0].bound == 1.0
    assert "More rows would not help" in found.hint


def test_thresholds_accept_ever_more_begin_where_a_test_may_pass_and_end_with_all():
    sure = np.append(np.linspace(0.01, 1, 90), np.full(10, -np.inf))
    rng = np.random.default_rng(0)
    steep = rng.uniform(size=100) > np.sqrt(np.maximum(sure, 0))  # ever more errors as the certainty falls
    thresholds = place(sure, claims_of(steep), 10, 0.05, ALL)
    assert (np.diff(thresholds) < 0).all()
    assert thresholds[-1] == ALL
    assert not np.isin(thresholds, sure).any()  # between distinct scores
    assert 59 < (sure > thresholds[0]).mean() * 1000 < 500
    # Few errors anywhere: the more cases the better, so it begins where most are accepted.
    flat = np.zeros(100, dtype=bool)
    flat[89] = True  # the surest of all is wrong
    first = place(sure, claims_of(flat), 10, 0.05, ALL)[0]
    assert (sure > first).mean() > 0.6
    assert claims_of(flat).chance(sure > first, 10, 0.05) > 0.9 * claims_of(flat).chance(sure > ALL, 10, 0.05)
    assert place(np.full(5, -np.inf), claims_of(flat[:5]), 10, 0.05, ALL).tolist() == [ALL]


def test_the_sequence_begins_away_from_the_edge_of_what_may_pass():
    """Three quarters of the cases are right, and thresholds from a few of them on are sure to pass: it begins in the
    middle of these, since the model's own scores may stand elsewhere than those of the fits that place.
    """
    sure = np.arange(1000, 0, -1, dtype=float)
    wrong = np.arange(1000) >= 750
    first = place(sure, claims_of(wrong, "error<=0.1"), 1, 0.05, ALL)[0]
    assert 0.25 < (sure > first).mean() < 0.6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 7]), st.sampled_from(["error<=0.2", "cost<=0.4", "misses<=0.3"]))
def test_neither_the_order_of_cases_nor_the_scale_of_scores_matters(seed, levels, promises):
    rng = np.random.default_rng(seed)
    placing, testing = (seen(rng.beta(0.5, 0.5, n), rng, levels) for n in (200, 150))

    def shuffled(cases):
        order = rng.permutation(len(cases.sure))
        answers = ForcedAnswers(cases.answers.truth[order], cases.answers.forced[order], PRICES)
        return Seen(answers, cases.sure[order], None)

    def stretched(cases):
        return cases._replace(sure=cases.sure**3)  # as a score between 0 and 1, in the same order

    one = made(promises, placing, testing)
    other = made(promises, shuffled(placing), shuffled(testing))
    assert (one.threshold, one.shown) == (other.threshold, other.shown)
    scaled = made(promises, stretched(placing), stretched(testing))
    if not np.isin(placing.sure, testing.sure).any() and levels == 0:
        # Thresholds lie between scores of the placing cases: which side a testing case is on may differ for few.
        assert abs(one.n_accepted - scaled.n_accepted) <= 3
    else:
        assert one.n_accepted == scaled.n_accepted


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_tie_is_accepted_whole_or_not_at_all(seed):
    rng = np.random.default_rng(seed)
    placing, testing = (seen(rng.uniform(size=n), rng, 5) for n in (200, 300))
    found = made("error<=0.3", placing, testing)
    accepted = testing.sure > found.threshold
    for value in np.unique(testing.sure):
        assert len(set(accepted[testing.sure == value])) == 1


# Against the truth: the share of promises that do not hold


POPULATION = np.random.default_rng(5).beta(0.7, 0.7, 20_000)
GROUP = np.random.default_rng(6).choice(3, 20_000, p=[0.5, 0.3, 0.2])
HARDER = np.where(GROUP == 2, 0.8 * POPULATION + 0.1, POPULATION)
WEIGHT = 1 + 12 * POPULATION * (1 - POPULATION)
DRAWS, N = 160, 700


def true_risk(posterior, threshold, risk="error", weight=None):
    forced = POPULATION > 0.5
    taken = np.abs(2 * POPULATION - 1) > threshold
    weight = np.ones(len(posterior)) if weight is None else weight
    loss = np.where(forced, 1 - posterior, posterior)
    if risk == "cost":
        loss = np.where(forced, PRICES.fp * (1 - posterior), PRICES.fn * posterior)
    if risk == "misses":
        weight, loss = weight * posterior, ~forced
    if risk == "false_alarms":
        weight, loss = weight * (1 - posterior), forced
    return np.average(loss[taken], weights=weight[taken]) if taken.any() else 0.0


def middle_level(posterior=POPULATION, risk="error", weight=None):
    return np.mean([true_risk(posterior, t, risk, weight) for t in (ALL, 0.8)])


def share_broken(risk="error", confidence=0.9, weight=None, bound=None):
    level, broken, held = middle_level(risk=risk, weight=weight), 0, 0
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        parts = []
        for n in (N, N // 2):
            rows = rng.integers(0, len(POPULATION), n)
            if bound is not None:
                rows = rows[Shift(weight[rows], bound).drawn(seed)]
            parts.append(seen(POPULATION[rows], rng))
        found = made(f"{risk}<={float(level)!r}", *parts, confidence=confidence)
        held += found.holds
        broken += found.holds and true_risk(POPULATION, found.threshold, risk, weight) > level
    return broken / DRAWS, held / DRAWS


ALLOWED = 0.1 + 2 * math.sqrt(0.1 * 0.9 / DRAWS)


@pytest.mark.parametrize("risk", ["error", "cost", "misses", "false_alarms"])
def test_promises_hold_as_often_as_they_say(risk):
    broken, held = share_broken(risk)
    assert broken <= ALLOWED
    assert held > 0.3


def test_these_draws_would_find_a_procedure_that_is_wrong():
    assert share_broken(confidence=0.5)[0] > ALLOWED


def test_promises_hold_in_another_population_and_would_not_without_the_weights():
    broken, held = share_broken(weight=WEIGHT, bound=4.0)
    assert broken <= ALLOWED
    assert held > 0.3
    assert share_broken(weight=WEIGHT)[0] > 2 * ALLOWED


def test_promises_hold_in_every_group_at_once_and_would_not_for_all_together():
    level = np.mean([_group_risk(2, t) for t in (ALL, 0.8)])
    broken = {True: 0, False: 0}
    for grouped in broken:
        for seed in range(DRAWS):
            rng = np.random.default_rng(seed)
            parts = []
            for n in (2 * N, 2 * N):
                rows = rng.integers(0, len(POPULATION), n)
                cases = seen(POPULATION[rows], rng, group=GROUP[rows] if grouped else None)
                truth = (rng.uniform(size=n) < HARDER[rows]).astype(int)
                parts.append(cases._replace(answers=ForcedAnswers(truth, cases.answers.forced, PRICES)))
            found = made(f"error<={float(level)!r}", *parts)
            broken[grouped] += found.holds and any(_group_risk(g, found.threshold) > level for g in range(3))
    assert broken[True] / DRAWS <= ALLOWED
    assert broken[False] / DRAWS > 2 * ALLOWED


def _group_risk(group, threshold):
    inside = group == GROUP
    taken = inside & (np.abs(2 * POPULATION - 1) > threshold)
    return np.where(POPULATION > 0.5, 1 - HARDER, HARDER)[taken].mean() if taken.any() else 0.0


# Terms


def test_kept_cases_are_a_sample_of_the_other_population():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=40_000)
    kept = Shift.of(3 * x**2, 3.0, len(x)).drawn(1)
    assert kept.mean() == pytest.approx(1 / 3, abs=0.01)
    assert x[kept].mean() == pytest.approx(3 / 4, abs=0.01)  # of the density 3 x^2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shift_weights": [1.0, -1.0]}, "shift_weights must hold one finite number per case"),
        ({"shift_weights": [1.0]}, "shift_weights must hold one finite number per case"),
        ({"shift_weights": [1.0, 5.0], "shift_bound": 2.0}, "shift_bound must be a finite number at least 5"),
        ({"shift_bound": 2.0}, "is the largest of shift_weights: give these as well"),
        ({"promise_groups": ["a"]}, "promise_groups must hold one label per case"),
        (
            {"promise_groups": ["a", None]},
            "promise_groups holds missing values.*leave out those whose group is not known",
        ),
    ],
)
def test_terms_that_cannot_be_meant_are_refused(given, message):
    given = {"promise_groups": None, "shift_weights": None, "shift_bound": None} | given
    with pytest.raises(ValueError, match=message):
        PromiseTerms.of(**given).checked(2)


def test_more_rows_help_where_a_stricter_threshold_has_a_lower_rate():
    """Of the surest third 1 of 60 is wrong, too few cases to show 5 %; of all it is more than that."""
    sure, wrong = np.arange(180.0), np.zeros(180, dtype=bool)
    wrong[:60:2], wrong[60:120:4], wrong[150] = True, True, True
    grid = np.array([119.5, 59.5, -1.0])
    for sequence in (grid, grid[2:]):
        found = certify(lambda t: sure > t, claims_of(wrong, "error<=0.05"), sequence, 0.95, 600, grid)
        assert "1 wrong among 60 accepted" in found.hint
        enough = int(re.search(r"about (\d+) rows would be enough", found.hint)[1])
        assert binom.cdf(np.ceil(enough / 10 / 60), enough / 10, 0.05) <= 0.05 * 1.1
    hopeless = certify(lambda t: sure > t, claims_of(wrong, "error<=0.01"), grid[2:], 0.95, 600, grid)
    assert "More rows would not help" in hopeless.hint
