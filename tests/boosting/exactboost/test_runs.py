"""Whole runs of ExactBoost, replayed stump by stump against losses written out from their definitions."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from recuse import Costs
from recuse.boosting.binning import bin_features
from recuse.boosting.exactboost import loops as kernels
from recuse.boosting.exactboost.objectives import OBJECTIVES, Objective, Terms
from recuse.boosting.exactboost.problem import UNITS, RankingProblem, RunSettings, sample_sizes
from recuse.boosting.exactboost.runs import boost_runs
from recuse.boosting.exactboost.trial import margin_in_units

EVERY = {"subsample": 1.0, "max_features": 1.0}
COSTS = Costs(fp=1.0, fn=1.7, reject_negative=0.15, reject_positive=0.35)


def auc(score, y, w, terms):
    pairs = w[y][:, None] * w[~y]
    return 1 - (pairs * (score[y][:, None] > score[~y])).sum() / pairs.sum()


def ks(score, y, w, terms):
    below = score[:, None] <= np.unique(score)
    gaps = w[~y] @ below[~y] / w[~y].sum() - w[y] @ below[y] / w[y].sum()
    return 1 - max(gaps.max(), 0.0)


def precision_at_k(score, y, w, terms):
    """Cases one by one from the top, negatives first among equals, until k of weight are taken."""
    left, hits = terms.k, 0.0
    for i in np.lexsort((y, -score)):
        taken = min(w[i], left)
        hits, left = hits + taken * y[i], left - taken
    return 1 - hits / terms.k


def reject_cost(score, y, w, terms):
    """No up to a, yes above b, rejected between, for every pair a <= b."""
    c, below = terms.costs, score[:, None] <= np.append(-np.inf, np.unique(score))
    no, yes = (w * c.fn * y) @ below, (w * c.fp * ~y) @ ~below
    rejected = (w * np.where(y, c.reject_positive, c.reject_negative)) @ below
    cost = no[:, None] + yes + rejected - rejected[:, None]
    return cost[np.triu_indices(len(cost))].min() / w.sum()


LOSSES = {"auc": auc, "ks": ks, "precision_at_k": precision_at_k, "reject_cost": reject_cost}


def make_problem(metric, seed, *, weighted=False, start=False, n=None):
    """A few cases with ties, duplicates and missing values, positives first."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(8, 16))
    n_pos = int(rng.integers(2, n - 2))
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    X[:n_pos] += rng.integers(0, 2, size=(n_pos, 2))
    if seed % 2:
        X[rng.random(X.shape) < 0.25] = np.nan
        X[0], X[-1] = 0.0, 3.0
    weight = rng.choice([1.0, 1.5, 2.0, 4.0], n) if weighted else np.ones(n)
    initial = rng.integers(0, 40, n).astype(np.int32) if start else np.zeros(n, dtype=np.int32)
    terms = Terms(COSTS, float(rng.integers(1, n_pos + 1)))
    return RankingProblem(bin_features(X, np.arange(n), None), n_pos, weight, initial, OBJECTIVES[metric], terms)


def margin_of(theta, score):
    """In units: relative to the range, which counts as `UNITS` at least, and never rounded down to nothing."""
    return max(1, round(theta * max(np.ptp(score), UNITS))) if theta else 0


def shifted(bins, stump):
    f, cut, d, missing_left = stump
    codes = bins.codes[f].astype(int)
    return d * np.where(codes == bins.n_bins[f], not missing_left, codes > cut)


def own_rounds(problem, settings, seed, e, run):
    """The score that the rounds for the objective itself start from, and their stumps.

    Where all cases start equal, those before them must be the stumps of a run for what the objective comes after.
    """
    score, stumps, first = problem.start.astype(int), run.stumps.tolist(), problem.objective.after
    if first is None or np.ptp(problem.start):
        return score, stumps
    ((before, _, _),) = boost_runs(replace(problem, objective=first), settings, seed, range(e, e + 1))
    n = len(before.stumps)
    assert stumps[:n] == before.stumps.tolist()
    return score + sum(shifted(problem.bins, stump) for stump in stumps[:n]), stumps[n:]


def judged(loss, problem, score, margin, rows, terms=None):
    y = problem.positive[rows]
    return loss((score - margin * problem.positive)[rows], y, problem.weight[rows], terms or problem.terms)


def every_stump(bins):
    for f, n in enumerate(bins.n_bins.tolist()):
        sides = (0, 1) if bins.has_missing[f] else (0,)
        for cut, d, left in itertools.product(range(-1, n), range(-UNITS, UNITS + 1), sides):
            yield f, cut, d, left


@pytest.mark.parametrize("theta", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("metric", LOSSES)
def test_every_stump_is_the_best_there_is_and_never_makes_the_loss_worse(metric, weighted, theta):
    loss, taken = LOSSES[metric], 0
    for seed in range(12):
        problem = make_problem(metric, seed, weighted=weighted, start=seed > 1)
        settings = RunSettings(n_rounds=4, margin=theta, **EVERY)
        ((run, out, _),) = boost_runs(problem, settings, seed, range(1))
        score, stumps = own_rounds(problem, settings, seed, 0, run)
        everyone, trace = np.arange(len(problem.weight)), run.trace.tolist()
        assert len(out) == 0
        assert trace[0] == pytest.approx(judged(loss, problem, score, margin_of(theta, score), everyone))
        for t, stump in enumerate(stumps):
            margin = margin_of(theta, score)
            found = judged(loss, problem, score + shifted(problem.bins, stump), margin, everyone)
            best = min(
                judged(loss, problem, score + shifted(problem.bins, s), margin, everyone)
                for s in every_stump(problem.bins)
            )
            assert found == pytest.approx(best, abs=1e-9), seed
            assert found < judged(loss, problem, score, margin, everyone)
            score = score + shifted(problem.bins, stump)
            # Every case was looked at, so nothing is tried again: rounds are taken from the first to the last.
            new = judged(loss, problem, score, margin_of(theta, score), everyone)
            assert trace[t + 1] == pytest.approx(new, abs=1e-9), seed
            assert new <= trace[t] + 1e-9
        assert (run.low, run.high) == (score.min(), score.max())
        assert trace[len(stumps) :] == [trace[-1]] * (5 - len(stumps))
        taken += len(stumps)
    assert taken >= 4


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("metric", LOSSES)
def test_the_loss_by_round_is_that_of_the_cases_of_the_run(metric, compiled):
    """Subsamples find the stumps, but every case that is not kept out accepts them: replayed, the losses agree."""
    loss, objective = LOSSES[metric], OBJECTIVES[metric]
    problem = make_problem(metric, 1, weighted=True, n=40)
    problem = replace(problem, objective=objective if compiled else Objective(objective.loss))
    settings = RunSettings(n_rounds=15 if compiled else 4, subsample=0.5, max_features=0.5, margin=0.05, hold_out=True)
    n, seen = len(problem.weight), []
    for e, (run, out, held_out) in enumerate(boost_runs(problem, settings, 0, range(5))):
        seen.append(out)
        bag = np.setdiff1d(np.arange(n), out)
        k = max(1.0, np.ceil(problem.terms.k * len(bag) / n))
        terms = Terms(problem.terms.costs, k)
        score, stumps = own_rounds(problem, settings, 0, e, run)
        losses = [judged(loss, problem, score, margin_of(0.05, score[bag]), bag, terms)]
        for stump in stumps:
            score = score + shifted(problem.bins, stump)
            losses.append(judged(loss, problem, score, margin_of(0.05, score[bag]), bag, terms))
        assert (np.diff(losses) <= 1e-9).all()
        assert run.trace[-1] == pytest.approx(losses[-1])
        np.testing.assert_allclose(np.unique(run.trace.round(9)), np.unique(np.round(losses, 9)), atol=2e-9)
        span = score[bag].max() - score[bag].min()
        np.testing.assert_allclose(held_out, (score[out] - score[bag].min()) / span)
    # Five runs keep out every case once, of each class about as many.
    np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(n))
    assert np.ptp([np.sum(out < problem.n_pos) for out in seen]) <= 1


def test_runs_differ_and_every_case_and_feature_is_drawn():
    problem = make_problem("auc", 0, n=60)
    settings = RunSettings(n_rounds=10, subsample=0.3, max_features=0.5)
    runs = [run for run, _, _ in boost_runs(problem, settings, 0, range(6))]
    assert len({run.stumps.tobytes() for run in runs}) == 6
    assert {f for run in runs for f in run.stumps[:, 0].tolist()} == {0, 1}
    again = [run for run, _, _ in boost_runs(problem, settings, 1, range(6))]
    assert len({run.stumps.tobytes() for run in runs + again}) == 12


def test_more_cases_do_not_mean_other_features():
    """Cases and features are drawn from streams of their own."""
    chosen = []
    for copies in (4, 8):
        X = np.repeat(np.arange(5.0), copies)[:, None] + np.arange(4.0)  # four features that say the same
        n_pos = 2 * copies
        bins = bin_features(X[::-1], np.arange(len(X)), None)
        start = np.zeros(len(X), dtype=np.int32)
        problem = RankingProblem(bins, n_pos, np.ones(len(X)), start, OBJECTIVES["auc"], Terms(COSTS))
        settings = RunSettings(n_rounds=4, subsample=0.5, max_features=0.25)
        chosen.append([run.stumps[0, 0] for run, _, _ in boost_runs(problem, settings, 0, range(12))])
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) > 1


@pytest.mark.parametrize("metric", ["auc", "precision_at_k"])
def test_a_run_ends_after_so_many_rounds_without_improvement(metric):
    """Up to there it is the run without an end; a stump that changes nothing is no improvement."""
    # From initial scores, since a run for AUC before it would end early too.
    problem, early = make_problem(metric, 0, n=60, start=OBJECTIVES[metric].after is not None), 0
    long, short = (
        [
            run.trace
            for run, _, _ in boost_runs(
                problem, RunSettings(30, subsample=0.3, max_features=0.5, patience=p), 0, range(20)
            )
        ]
        for p in (0, 2)
    )
    for full, ended in zip(long, short, strict=True):
        expected, idle = [full[0]], 0
        for before, after in itertools.pairwise(full):
            if idle < 2:
                idle = 0 if after < before else idle + 1
                expected.append(after)
        early += len(expected) < 25
        assert ended.tolist() == expected + [expected[-1]] * (31 - len(expected))
    assert early > 5


def test_how_many_are_drawn():
    problem = make_problem("auc", 0, n=30)
    n_pos = problem.n_pos
    drawn = sample_sizes(problem, RunSettings(subsample=0.26, max_features=0.9), np.arange(30))
    assert list(drawn) == [round(0.26 * n_pos), round(0.26 * (30 - n_pos)), 2]
    assert sample_sizes(problem, RunSettings(subsample=0.01, max_features=0.01), np.arange(30)) == (1, 1, 1)


@pytest.mark.parametrize("theta", [0.0, 0.3])
@pytest.mark.parametrize("metric", LOSSES)
def test_the_interpreted_search_tries_every_cut_at_its_shifts(metric, theta):
    """The margin is that of the round, which grows with the range."""
    loss, taken = LOSSES[metric], 0
    for seed in range(4):
        problem = make_problem(metric, seed, weighted=True, start=seed > 1)
        problem = replace(problem, objective=Objective(OBJECTIVES[metric].loss))
        ((run, _, _),) = boost_runs(problem, RunSettings(n_rounds=3, margin=theta, **EVERY), seed, range(1))
        everyone, score = np.arange(len(problem.weight)), problem.start.astype(int)
        shifts = {sign * UNITS // 2**i for i in range(6) for sign in (1, -1)}
        for stump in run.stumps.tolist():
            margin = margin_of(theta, score)
            tried = [s for s in every_stump(problem.bins) if s[2] in shifts]
            best = min(judged(loss, problem, score + shifted(problem.bins, s), margin, everyone) for s in tried)
            score = score + shifted(problem.bins, stump)
            assert judged(loss, problem, score, margin, everyone) == pytest.approx(best, abs=1e-9), seed
        taken += len(run.stumps)
    assert taken >= 3


def test_a_subsample_counts_its_share_of_k():
    """The ten best of 40 cases are the five best of half of them, in either search."""
    seen = []

    def note(histogram, terms):
        seen.append((round(histogram.pos.sum() + histogram.neg.sum()), terms.k))
        return OBJECTIVES["precision_at_k"].loss(histogram, terms)

    problem = replace(make_problem("precision_at_k", 0, n=40), objective=Objective(note), terms=Terms(COSTS, 10.0))
    list(boost_runs(problem, RunSettings(n_rounds=1, subsample=0.5), 0, range(1)))
    sample = sum(sample_sizes(problem, RunSettings(subsample=0.5), np.arange(40))[:2])
    assert set(seen) == {(40, 10.0), (sample, 5.0)}
    assert [problem.terms_of(share).k for share in (1.0, 0.5, 0.21, 0.01)] == [10.0, 5.0, 3.0, 1.0]


@njit
def margin_of_loops(theta, low, high, D):
    return kernels.margin_of(theta, low, high, D)


def test_the_margin_in_units():
    """A share of the range, rounded; of `UNITS` at least; one at least, unless there is none."""
    for theta, span, expected in (
        (0.0, 500, 0),
        (0.05, 100, 5),
        (0.05, 10, 2),
        (0.05, 0, 2),
        (0.01, 0, 1),
        (0.3, 95, 28),
    ):
        assert margin_of_loops(theta, -7, span - 7, UNITS) == expected
        assert margin_in_units(RunSettings(margin=theta), np.array([3, 3 + span])) == expected
