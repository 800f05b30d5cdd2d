"""The stump searches of ExactBoost against brute force over all cuts and shifts, and its losses against the metrics."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from sklearn.metrics import roc_auc_score

from recuse import Costs
from recuse.boosting.binning import bin_features
from recuse.boosting.exactboost import loops as kernels
from recuse.boosting.exactboost.histogram import ScoreHistogram
from recuse.boosting.exactboost.objectives import OBJECTIVES, Terms, of_roc
from recuse.boosting.exactboost.problem import UNITS
from recuse.boosting.exactboost.runs import compiled_objective
from recuse.boosting.exactboost.thresholds import best_single_threshold, best_thresholds
from recuse.metrics import expected_cost, ks_score, precision_at_k_score

PROBLEMS = 150  # of each objective and kind of weight
COMPILED = [name for name, objective in OBJECTIVES.items() if objective.compiled is not None]


def random_problem(seed, weighted):
    """A few cases with ties, duplicates, constant features and missing values; scores on a coarse grid."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    levels = int(rng.integers(1, 8))
    X = rng.integers(0, levels, size=(n, 2)).astype(float)
    if seed % 3 == 0:
        X[rng.random(X.shape) < 0.25] = np.nan
        X[0] = 0.0
    if seed % 5 == 0:
        X[1:] = X[rng.integers(0, n, size=n - 1)]
    y = rng.random(n) < 0.5
    y[:2] = True, False
    score = rng.integers(0, int(rng.integers(1, 12)), size=n)
    weight = rng.integers(1, 5, size=n) / 2 if weighted else np.ones(n)
    costs = Costs(fp=rng.uniform(0.5, 2), fn=rng.uniform(0.5, 2), reject=rng.uniform(0.05, 0.4))
    k = float(rng.integers(1, n + 1)) if not weighted else float(rng.uniform(1, weight.sum()))
    return X, y, score, weight, int(rng.integers(0, 4)), int(rng.integers(1, 9)), Terms(costs, k)


def arrange(X, y, score, weight):
    order = np.concatenate([np.flatnonzero(y), np.flatnonzero(~y)])
    return bin_features(X, order, None), y[order], score[order], weight[order]


@njit
def search_once(objective, bisect, table, draws, score, units, base, margin, D, room, size):
    """One round's search as a run does it: functions of the loops that only compiled code can call."""
    totals = kernels._start_round(score, draws.pos_rows, draws.neg_rows, units, base, margin, room.sample, size)
    if bisect is not None:
        return kernels.search_by_bisection(objective, table, draws.features, D, room, size)
    return kernels.search_all(objective, table, draws.features, D, room, size, totals)


def search(metric, bins, y, score, weight, margin, D, terms, *, exact=True, weighted=True):
    """The compiled search on all cases and features, as a run does it: (feature, cut, shift, missing left) or None."""
    n_pos, span = int(y.sum()), int(np.ptp(score))
    units = weight.copy() if weighted else np.ones(len(y), dtype=np.int32)
    objective = compiled_objective(OBJECTIVES[metric], terms)
    room = kernels.make_room(objective, n_pos, len(y) - n_pos, span, margin, int(bins.n_bins.max()), units, bins.codes)
    rows, features = np.arange(len(y)), np.arange(len(bins.n_bins))
    base, size = int(score.min()) - margin - kernels.WINDOW, span + margin + 2 * kernels.WINDOW + 2
    draws = kernels.Draws(rows[:n_pos], rows[n_pos:], features, np.zeros((2, 1), dtype=np.uint64))
    table = kernels.Features(bins.codes, bins.n_bins, bins.monotonic)
    bisect = None if exact else True
    f = search_once(objective, bisect, table, draws, score.astype(np.int32), units, base, margin, D, room, size)
    return None if f < 0 else (int(f), *(int(part) for part in room.stump))


def right_of(bins, f, cut, missing_left):
    codes = bins.codes[f].astype(int)
    return np.where(codes == bins.n_bins[f], not missing_left, codes > cut)


def loss(metric, y, score, weight, margin, terms):
    return OBJECTIVES[metric].loss(ScoreHistogram.of(score.astype(float), y, weight, margin), terms)


def every_loss(metric, bins, y, score, weight, margin, shifts, terms):
    for f in range(len(bins.n_bins)):
        for cut, missing_left in itertools.product(range(-1, bins.n_bins[f]), (False, True)):
            right = right_of(bins, f, cut, missing_left)
            for d in shifts:
                if d * int(bins.monotonic[f]) < 0 and not (cut == bins.n_bins[f] - 1 and not missing_left):
                    continue
                yield loss(metric, y, score + d * right, weight, margin, terms)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("metric", COMPILED)
def test_search_equals_brute_force(metric, weighted):
    improved = 0
    for seed in range(PROBLEMS):
        X, y, score, weight, margin, D, terms = random_problem(seed, weighted)
        bins, y, score, weight = arrange(X, y, score, weight)
        least = min(every_loss(metric, bins, y, score, weight, margin, range(-D, D + 1), terms))
        before = loss(metric, y, score, weight, margin, terms)
        stump = search(metric, bins, y, score, weight, margin, D, terms, weighted=weighted)
        if stump is None:
            assert least > before - 1e-9, seed
            continue
        f, cut, d, missing_left = stump
        assert 0 < abs(d) <= D
        reached = loss(metric, y, score + d * right_of(bins, f, cut, missing_left), weight, margin, terms)
        assert reached == pytest.approx(least, abs=1e-9), seed
        improved += 1
    assert improved > PROBLEMS / 4  # not all of them trivial


@pytest.mark.parametrize("metric", COMPILED)
def test_search_along_monotone_features_equals_brute_force(metric):
    improved = 0
    for seed in range(PROBLEMS):
        X, y, score, weight, margin, D, terms = random_problem(seed, False)
        bins, y, score, weight = arrange(X, y, score, weight)
        signs = np.random.default_rng(seed).integers(-1, 2, size=2).astype(np.int8)
        bins = replace(bins, monotonic=signs)
        least = min(every_loss(metric, bins, y, score, weight, margin, range(-D, D + 1), terms))
        stump = search(metric, bins, y, score, weight, margin, D, terms, weighted=False)
        if stump is None:
            assert least > loss(metric, y, score, weight, margin, terms) - 1e-9, seed
            continue
        f, cut, d, missing_left = stump
        assert 0 < abs(d) <= D
        assert d * signs[f] >= 0 or cut == bins.n_bins[f] - 1  # missing values alone are free
        reached = loss(metric, y, score + d * right_of(bins, f, cut, missing_left), weight, margin, terms)
        assert reached == pytest.approx(least, abs=1e-9), seed
        improved += 1
    assert improved > PROBLEMS / 6


@pytest.mark.parametrize("metric", ["auc", "precision_at_k", "reject_cost"])
def test_the_shift_is_the_middle_of_those_that_do_as_well(metric):
    wide = 0
    for seed in range(60):
        X, y, score, weight, margin, D, terms = random_problem(seed, False)
        bins, y, score, weight = arrange(X, y, 3 * score, weight)  # gaps between the scores
        stump = search(metric, bins, y, score, weight, margin, D, terms, weighted=False)
        if stump is None:
            continue
        f, cut, d, missing_left = stump
        right = right_of(bins, f, cut, missing_left)
        reached = {e: loss(metric, y, score + e * right, weight, margin, terms) for e in range(-D, D + 1)}
        ends = []
        for step in (-1, 1):
            e = d
            while e + step in reached and e + step != 0 and reached[e + step] == pytest.approx(reached[d], abs=1e-12):
                e += step
            ends.append(e)
        assert abs(d - sum(ends) / 2) <= 0.5, seed
        wide += ends[1] - ends[0] >= 2
    assert wide > 5


def test_shifts_that_cost_the_same_far_apart_have_no_middle():
    y, x = np.array([0, 0, 1, 0, 1, 0, 1], dtype=bool), np.array([0, 0, 0, 1, 1, 0, 0])
    bins, y, score, weight = arrange(x[:, None].astype(float), y, np.array([9, 9, 3, 7, 9, 5, 9]), np.ones(7))
    right = right_of(bins, 0, 0, False)
    cost = {d: loss("reject_cost", y, score + d * right, weight, 0, Terms(Costs())) for d in range(-8, 9)}
    best = [d for d in cost if cost[d] == pytest.approx(min(cost.values()))]
    assert best == [-8, -7, -6, -5, *range(1, 9)]
    assert search("reject_cost", bins, y, score, weight, 0, 8, Terms(Costs()))[2] == -7


@pytest.mark.parametrize("metric", COMPILED)
def test_the_cut_is_the_middle_of_the_gap_between_the_cases_drawn(metric):
    x = np.arange(31.0)
    y = x >= 15
    bins, y, _, weight = arrange(x[:, None], y, x, np.ones(31))
    values = np.concatenate([x[15:], x[:15]])
    drawn = np.flatnonzero((values >= 19) | (values <= 5))
    few = bins.take(drawn)
    zero = np.zeros(len(drawn), dtype=int)
    terms = Terms(Costs(), float(y[drawn].sum()))
    stump = search(metric, few, y[drawn], zero, weight[drawn], 0, 4, terms)
    assert stump[:2] == (0, 11)  # cuts 5 to 18 do the same
    assert stump[2] > 0


def test_the_longest_shift_fits_the_window():
    assert UNITS <= kernels.WINDOW


def test_ks_is_optimal_over_all_real_shifts():
    """Whole shifts are enough for KS: none between them, and none longer than the range, is better."""
    for seed in range(60):
        X, y, score, weight, margin, _, terms = random_problem(seed, False)
        bins, y, score, weight = arrange(X, y, score, weight)
        D = int(np.ptp(score)) + margin + 2
        shifts = np.arange(-2 * D, 2 * D + 1) / 2
        least = min(every_loss("ks", bins, y, score, weight, margin, shifts, terms))
        stump = search("ks", bins, y, score, weight, margin, D, terms, weighted=False)
        if stump is None:
            reached = loss("ks", y, score, weight, margin, terms)
        else:
            f, cut, d, missing_left = stump
            reached = loss("ks", y, score + d * right_of(bins, f, cut, missing_left), weight, margin, terms)
        assert reached == pytest.approx(least, abs=1e-9), seed


@pytest.mark.parametrize("metric", COMPILED)
def test_bisection_never_beats_the_search_and_often_misses(metric):
    missed = 0
    for seed in range(60):
        X, y, score, weight, margin, _, terms = random_problem(seed, False)
        bins, y, score, weight = arrange(X, y, score, weight)
        D = 8
        reached = []
        for exact in (True, False):
            stump = search(metric, bins, y, score, weight, margin, D, terms, exact=exact, weighted=False)
            f, cut, d, missing_left = stump or (0, 0, 0, 0)
            reached.append(loss(metric, y, score + d * right_of(bins, f, cut, missing_left), weight, margin, terms))
        assert reached[0] <= reached[1] + 1e-9
        assert reached[1] <= loss(metric, y, score, weight, margin, terms) + 1e-9
        missed += reached[0] < reached[1] - 1e-9
    assert missed > 0


def by_bisection(metric, bins, f, y, score, margin, D, terms):
    """Algorithm 2 of the poster for one feature: boxes of (cut, a, b), each case at its better end as a bound."""
    codes, half = bins.codes[f].astype(int), D // 2

    def rounded(scores):
        return round(loss(metric, y, scores, None, margin, terms), 12)

    box = [(0, bins.n_bins[f] - 1 - (not bins.has_missing[f])), (-half, half), (-half, half)]
    if box[0][1] < 0:
        return 0, 0, rounded(score)
    while any(low < high for low, high in box):
        halves = [sorted({(low, (low + high) // 2), (min((low + high) // 2 + 1, high), high)}) for low, high in box]
        children = [(cuts, a, b) for b in halves[2] for a in halves[1] for cuts in halves[0]]
        losses = []
        for cuts, a, b in children:
            left, right = codes <= cuts[0], codes > cuts[1]
            highest = np.where(left, a[1], np.where(right, b[1], max(a[1], b[1])))
            lowest = np.where(left, a[0], np.where(right, b[0], min(a[0], b[0])))
            losses.append(rounded(score + np.where(y, highest, lowest)))
        box = children[int(np.argmin(losses))]
    cut, d = box[0][0], box[2][0] - box[1][0]
    return cut, d, rounded(score + d * (codes > cut))


@pytest.mark.parametrize("metric", ["auc", "ks", "precision_at_k"])
def test_bisection_is_the_algorithm_of_the_poster(metric):
    found = 0
    for seed in range(60):
        X, y, score, weight, margin, _, terms = random_problem(seed, False)
        bins, y, score, weight = arrange(X, y, score, weight)
        best, expected = round(loss(metric, y, score, None, margin, terms), 12), None
        for f in range(len(bins.n_bins)):
            cut, d, reached = by_bisection(metric, bins, f, y, score, margin, 8, terms)
            if d != 0 and reached < best:
                best, expected = reached, (f, cut, d, 0)
        assert search(metric, bins, y, score, weight, margin, 8, terms, exact=False, weighted=False) == expected, seed
        found += expected is not None
    assert found > 10


@pytest.mark.parametrize("metric", COMPILED)
def test_compiled_losses_equal_the_plain_ones(metric):
    for seed in range(200):
        _, y, score, weight, margin, _, terms = random_problem(seed, seed % 2 == 0)
        histogram = ScoreHistogram.of(score.astype(float), y, weight, margin)
        objective = compiled_objective(OBJECTIVES[metric], terms)
        loss = kernels.COMPILED_OBJECTIVES[type(objective)].loss
        compiled = loss(objective, histogram.pos, histogram.neg, len(histogram.values))
        assert compiled == pytest.approx(OBJECTIVES[metric].loss(histogram, terms), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ties", [False, True])
def test_losses_without_margin_are_the_metrics(seed, ties):
    rng = np.random.default_rng(seed)
    n = 40
    y = rng.random(n) < 0.4
    y[:2] = True, False
    score = rng.integers(0, 10, n).astype(float) if ties else rng.permutation(n).astype(float)
    weight = rng.uniform(0.5, 2, n)
    costs = Costs(fp=1, fn=2, reject_negative=0.2, reject_positive=0.3)
    terms = Terms(costs, 7.0, tie=0.5 if ties else 1.0)
    histogram = ScoreHistogram.of(score, y, weight)
    losses = {name: objective.loss(histogram, terms) for name, objective in OBJECTIVES.items()}
    assert losses["auc"] == pytest.approx(1 - roc_auc_score(y, score, sample_weight=weight))
    assert losses["ks"] == pytest.approx(1 - ks_score(y, score, sample_weight=weight))
    assert losses["precision_at_k"] == pytest.approx(1 - precision_at_k_score(y, score, k=7.0, sample_weight=weight))
    lower, upper, cost = best_thresholds(histogram, costs)
    answers = np.where(score > upper, 1, np.where(score <= lower, 0, -1))
    truth = y.astype(int)
    assert losses["reject_cost"] == pytest.approx(cost)
    assert cost == pytest.approx(expected_cost(truth, answers, costs=costs, reject_label=-1, sample_weight=weight))
    every = [-np.inf, *np.unique(score)]
    least = min(
        expected_cost(
            truth,
            np.where(score > b, 1, np.where(score <= a, 0, -1)),
            costs=costs,
            reject_label=-1,
            sample_weight=weight,
        )
        for a, b in itertools.combinations_with_replacement(every, 2)
    )
    assert cost == pytest.approx(least)


def test_the_thresholds_are_in_order_and_cost_what_they_say():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y, score, weight = rng.random(9) < 0.5, rng.integers(0, 6, 9).astype(float), rng.uniform(0.1, 3, 9)
        y[:2] = True, False
        costs = Costs(fp=rng.uniform(0.5, 2), fn=rng.uniform(0.5, 2), reject=rng.uniform(0.05, 0.24))
        lower, upper, cost = best_thresholds(ScoreHistogram.of(score, y, weight), costs)
        answers = np.where(score > upper, 1, np.where(score <= lower, 0, -1))
        assert lower <= upper
        paid = expected_cost(y.astype(int), answers, costs=costs, reject_label=-1, sample_weight=weight)
        assert cost == pytest.approx(paid)


def test_the_single_threshold_is_the_cheapest_in_an_interval():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, score, weight = rng.random(15) < 0.5, rng.integers(0, 8, 15).astype(float), rng.uniform(0.5, 2, 15)
        y[:2] = True, False
        low, high = np.sort(rng.uniform(-2, 9, 2))
        histogram = ScoreHistogram.of(score, y, weight)
        tried = np.array([-np.inf, *((histogram.values[1:] + histogram.values[:-1]) / 2), np.inf])
        if not ((tried >= low) & (tried <= high)).any():
            continue
        cost = {t: weight @ (2 * (y & (score <= t)) + (~y & (score > t))) for t in tried}
        found = best_single_threshold(histogram, Costs(fp=1.0, fn=2.0), low, high)
        assert low <= found <= high
        assert cost[found] == pytest.approx(min(c for t, c in cost.items() if low <= t <= high))


def test_a_small_gain_beside_a_large_cost_counts_in_the_reject_search():
    x, score = np.array([0.0, 0.0, 1.0]), np.array([0, 8, 0])
    y, weight = np.array([False, True, True]), np.array([1e6, 1e6, 1.0])
    bins, y, score, weight = arrange(x[:, None], y, score, weight)
    stump = search("reject_cost", bins, y, score, weight, 0, 8, Terms(Costs()))
    assert stump is not None
    assert stump[2] > 0


def test_a_tie_is_a_loss():
    histogram = ScoreHistogram.of(np.zeros(4), np.array([True, True, False, False]))
    terms = Terms(Costs(), 2.0)
    losses = {name: objective.loss(histogram, terms) for name, objective in OBJECTIVES.items()}
    assert losses["auc"] == losses["ks"] == losses["precision_at_k"] == 1.0
    assert losses["reject_cost"] == pytest.approx(0.2)  # all rejected


def test_objective_of_roc_points():
    def missing_area(fpr, tpr):
        return 1 - np.trapezoid(tpr, fpr)

    positives, negatives = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.5])
    y, score = np.repeat([1, 0], 3), np.concatenate([positives, negatives])
    assert of_roc(missing_area)(positives, negatives) == pytest.approx(1 - roc_auc_score(y, score))
