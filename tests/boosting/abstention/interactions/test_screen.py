"""The screen over all pairs, against brute force, and on data whose interactions are known."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from recuse.boosting.abstention.interactions import screen as module
from recuse.boosting.abstention.interactions.coarse import coarsen
from recuse.boosting.abstention.interactions.screen import rank_pairs
from recuse.boosting.abstention.interactions.slopes import Slopes
from tests.boosting.abstention.helpers import make_problem, random_data


def lowered(stats, columns, ridge, with_r):
    """What the second-order model gains by values for each column of a 0/1 design: half g' H^-1 g, by least squares."""
    parts = 2 if with_r else 1
    n = columns.shape[1]
    g, H = np.zeros(parts * n), np.zeros((parts * n, parts * n))
    at = {(0, 0): 2, (0, 1): 3, (1, 0): 3, (1, 1): 4}
    for a in range(parts):
        g[a * n : (a + 1) * n] = columns.T @ stats[:, a]
        for b in range(parts):
            block = (columns * stats[:, [at[a, b]]]).T @ columns
            H[a * n : (a + 1) * n, b * n : (b + 1) * n] = block
    return 0.5 * g @ np.linalg.lstsq(H, g, rcond=None)[0]


def brute_force(problem, scores, pair, with_r):
    """Largest gain of four quadrants over two main effects, over all cuts of both features."""
    stats = Slopes(problem, with_r=with_r).at(*scores)
    coarse = coarsen(problem.bins, problem.s, module.SCREEN_CODES)
    first, second = coarse.code(problem.bins)[list(pair)]
    n, k = coarse.n_codes[list(pair)]
    total, best = stats[:, 2].sum(), 0.0
    for a, b in itertools.product(range(1, n), range(1, k)):
        left, low = (first < a).astype(float), (second < b).astype(float)
        quadrants = np.column_stack([left * low, left * (1 - low), (1 - left) * low, (1 - left) * (1 - low)])
        if (quadrants.T @ stats[:, 2] < module._LEAST * total).any():
            continue
        additive = np.column_stack([np.ones(len(left)), left, low])
        gain = lowered(stats, quadrants, 0.0, with_r) - lowered(stats, additive, 0.0, with_r)
        best = max(best, gain)
    return best


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("with_r", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_strengths_are_those_of_brute_force(loss, with_r, seed, monkeypatch):
    monkeypatch.setattr(module, "_RIDGE", 1e-13)
    X, y = random_data(seed, m=80, p=4, levels=5, missing=0.1)
    rng = np.random.default_rng(seed)
    problem, _ = make_problem(X, y, loss=loss, weights=rng.random(80) + 0.5)
    scores = rng.normal(size=80), rng.normal(size=80) if with_r else np.zeros(80)
    pairs, gains = rank_pairs(problem, scores, with_r=with_r)
    expected = [brute_force(problem, scores, pair, with_r) for pair in pairs.tolist()]
    np.testing.assert_allclose(gains, expected, rtol=1e-6, atol=1e-12)
    assert (np.diff(gains) <= 0).all()
    assert sorted(map(tuple, pairs.tolist())) == list(itertools.combinations(range(4), 2))


def interacting(m=3000, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p))
    logit = X[:, 0] + 2 * X[:, 1] + 1.5 * X[:, 2] * X[:, 3] + 2 * ((X[:, 4] > 0) ^ (X[:, 5] > 0.5)) - 1
    return X, np.where(rng.random(m) < 1 / (1 + np.exp(-logit)), 1, -1)


@pytest.mark.parametrize("with_r", [False, True])
def test_known_interactions_come_first_though_main_effects_are_not_fitted(with_r):
    """The screen looks past main effects: strong ones of features 0 and 1 are not taken for an interaction."""
    X, y = interacting()
    problem, _ = make_problem(X, y)
    pairs, gains = rank_pairs(problem, (np.zeros(3000), np.zeros(3000)), with_r=with_r)
    assert {tuple(pair) for pair in pairs[:2].tolist()} == {(2, 3), (4, 5)}
    assert gains[1] > 3 * gains[2]


def test_a_sample_of_the_rows_finds_them_too(monkeypatch):
    monkeypatch.setattr(module, "_WORK", 28 * 1500)
    X, y = interacting()
    problem, _ = make_problem(X, y)
    pairs, _ = rank_pairs(problem, (np.zeros(3000), np.zeros(3000)), with_r=False)
    assert {tuple(pair) for pair in pairs[:2].tolist()} == {(2, 3), (4, 5)}


def test_of_very_many_features_the_strongest_are_paired(monkeypatch):
    monkeypatch.setattr(module, "_MOST_FEATURES", 3)
    X, y = interacting()
    problem, _ = make_problem(X, y)
    pairs, _ = rank_pairs(problem, (np.zeros(3000), np.zeros(3000)), with_r=False)
    assert len(pairs) == 3
    assert {0, 1} <= set(pairs.ravel().tolist())


def test_monotone_features_are_in_no_pair():
    X, y = interacting()
    problem, _ = make_problem(X, y)
    signs = np.zeros(8, dtype=np.int8)
    signs[2] = 1
    problem = replace(problem, bins=replace(problem.bins, monotonic=signs))
    pairs, _ = rank_pairs(problem, (np.zeros(3000), np.zeros(3000)), with_r=False)
    assert 2 not in pairs
    assert len(pairs) == 21


def test_one_feature_has_no_pairs():
    X, y = random_data(0, p=1)
    problem, _ = make_problem(X, y)
    pairs, gains = rank_pairs(problem, (np.zeros(40), np.zeros(40)), with_r=True)
    assert pairs.shape == (0, 2)
    assert len(gains) == 0
