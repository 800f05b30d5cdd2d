"""Boosting pair terms: slopes against finite differences, trees against brute force, descent, purified forms."""

import itertools

import numpy as np
import pytest

from recuse.boosting.abstention.engine.rounds import boost
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.interactions import loops
from recuse.boosting.abstention.interactions.forms import purified_form
from recuse.boosting.abstention.interactions.slopes import Slopes
from recuse.boosting.abstention.interactions.terms import PairBooster, boost_pairs
from tests.boosting.abstention.helpers import make_problem, random_data


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_slopes_and_curvatures_are_those_of_the_objective(loss):
    X, y = random_data(0)
    problem, _ = make_problem(X, y, loss=loss)
    rng = np.random.default_rng(0)
    h, r = rng.normal(size=(2, 40))
    slopes = Slopes(problem, with_r=True)
    stats = slopes.at(h, r).copy()
    assert slopes.objective(h, r) == pytest.approx(problem.surrogate.objective(problem.y, problem.s, h, r))
    step = 1e-5
    for i in (0, 39):  # a positive and a negative case
        e = np.eye(40)[i] * step
        assert (slopes.objective(h + e, r) - slopes.objective(h - e, r)) / (2 * step) == pytest.approx(
            stats[i, 0], rel=1e-5
        )
        assert (slopes.objective(h, r + e) - slopes.objective(h, r - e)) / (2 * step) == pytest.approx(
            stats[i, 1], rel=1e-5
        )
        up, down = slopes.at(h + e, r).copy(), slopes.at(h - e, r).copy()
        np.testing.assert_allclose((up[i, :2] - down[i, :2]) / (2 * step), stats[i, 2:4], rtol=1e-5)
        up, down = slopes.at(h, r + e).copy(), slopes.at(h, r - e).copy()
        np.testing.assert_allclose((up[i, 1] - down[i, 1]) / (2 * step), stats[i, 4], rtol=1e-5)


def test_without_r_the_loss_is_that_of_h_alone():
    X, y = random_data(1)
    problem, _ = make_problem(X, y)
    h, r = np.random.default_rng(1).normal(size=40), np.zeros(40)
    slopes = Slopes(problem, with_r=False)
    expected = problem.s @ problem.surrogate.phi.value(-problem.y * h)
    assert slopes.objective(h, r) == pytest.approx(expected)
    np.testing.assert_allclose(
        slopes.at(h, r)[:, 0], -problem.y * problem.s * problem.surrogate.phi.slope(-problem.y * h)
    )


def test_scores_far_out_stay_finite():
    X, y = random_data(1)
    problem, _ = make_problem(X, y, loss="exponential")
    far = np.full(40, 1e4)
    slopes = Slopes(problem, with_r=True)
    assert np.isfinite(slopes.at(far, -far)).all()
    assert np.isfinite(slopes.objective(-far, far))


def leaf_gain(t, ridge, with_r):
    if not with_r:
        return 0.5 * t[0] ** 2 / (t[2] + ridge)
    H = np.array([[t[2] + ridge, t[3]], [t[3], t[4] + ridge]])
    return 0.5 * t[:2] @ np.linalg.solve(H, t[:2])


def every_tree(table, with_r, ridge, least):
    """Gain of each tree of two levels over one leaf, by brute force; parts without a cut are one leaf."""
    whole = leaf_gain(table.sum(axis=(0, 1)), ridge, with_r)
    for cells in (table, table.transpose(1, 0, 2)):
        for cut in range(1, len(cells)):
            parts = [cells[:cut], cells[cut:]]
            if min(part[:, :, 2].sum() for part in parts) < least:
                continue
            gain = -whole
            for part in parts:
                found = [leaf_gain(part.sum(axis=(0, 1)), ridge, with_r)]
                for inner in range(1, cells.shape[1]):
                    sums = [part[:, :inner].sum(axis=(0, 1)), part[:, inner:].sum(axis=(0, 1))]
                    if min(t[2] for t in sums) >= least:
                        found.append(sum(leaf_gain(t, ridge, with_r) for t in sums))
                gain += max(found)
            yield gain


@pytest.mark.parametrize("with_r", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_the_best_of_all(with_r, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 6, 2)
    table = rng.normal(size=(rows, columns, 5))
    root = rng.normal(size=(rows, columns, 2, 2))
    curvature = root @ root.transpose(0, 1, 3, 2)  # positive definite
    table[:, :, 2], table[:, :, 3], table[:, :, 4] = curvature[..., 0, 0], curvature[..., 0, 1], curvature[..., 1, 1]
    if not with_r:
        table[:, :, [1, 3, 4]] = 0.0
    least, tree = 0.05 * table[:, :, 2].sum(), np.empty(4, dtype=np.int64)
    gain = loops.best_tree(table.reshape(-1, 5), rows, columns, loops.LeafLimits(1e-3, least, 4.0), with_r, tree)
    assert gain == pytest.approx(max(every_tree(table, with_r, 1e-3, least)))
    cells = table if tree[0] == 0 else table.transpose(1, 0, 2)
    sums = [
        part[:, half].sum(axis=(0, 1))
        for part, cut in ((cells[: tree[1]], tree[2]), (cells[tree[1] :], tree[3]))
        for half in (slice(cut), slice(cut, None))
    ]
    parts = sum(leaf_gain(t, 1e-3, with_r) for t in sums)
    assert parts - leaf_gain(table.sum(axis=(0, 1)), 1e-3, with_r) == pytest.approx(gain)


def start_of(problem, family, loss):
    model = boost(problem, Settings(family=family, loss=loss, n_rounds=20, beta=1e-3)).model
    return model, model.scores(problem)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("family", ["score", "coupled", "decoupled"])
def test_every_turn_lowers_the_objective_and_scores_are_those_of_the_tables(family, loss):
    X, y = random_data(3, m=150, p=4, levels=12, missing=0.05)
    problem, _ = make_problem(X, y, loss=loss)
    with_r = family != "score"
    _, scores = start_of(problem, family, loss)
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    booster = PairBooster(problem, scores, pairs, with_r=with_r)
    objectives = [booster.objective]
    for _ in range(15):
        assert booster.turn()
        objectives.append(booster.objective)
    assert (np.diff(objectives) < 0).all()
    h, r = (score.copy() for score in scores)
    booster.terms.add_to(booster.terms.cells(problem.bins), h, r)
    np.testing.assert_allclose(booster.h, h, atol=1e-12)
    np.testing.assert_allclose(booster.r, r, atol=1e-12)
    if with_r:
        assert booster.objective == pytest.approx(problem.surrogate.objective(problem.y, problem.s, h, r))
    else:
        np.testing.assert_array_equal(r, scores[1])


def test_a_turn_that_goes_too_far_is_taken_back():
    X, y = random_data(4, m=60, p=3)
    problem, _ = make_problem(X, y)
    _, scores = start_of(problem, "coupled", "logistic")
    booster = PairBooster(problem, scores, np.array([[0, 1], [0, 2], [1, 2]]), with_r=True)
    booster.rate = 500.0
    before = booster.objective
    assert booster.turn()
    assert booster.rate < 500.0
    assert booster.objective < before


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("family", ["score", "coupled", "decoupled"])
def test_purified_terms_add_up_to_the_boosted_scores(family, missing):
    """Within 1e-10, with every mean over rows and columns 0."""
    X, y = random_data(5, m=300, p=4, levels=40, missing=missing)
    weights = np.random.default_rng(5).random(300) + 0.2
    problem, order = make_problem(X, y, weights=weights)
    with_r = family != "score"
    model, scores = start_of(problem, family, "logistic")
    terms, _ = boost_pairs(problem, scores, np.array([[0, 1], [1, 3], [0, 2]]), 30, with_r=with_r)
    h, r = (score.copy() for score in scores)
    terms.add_to(terms.cells(problem.bins), h, r)
    form = purified_form(model, terms, problem.bins, weights[order])
    found = form.evaluate(X[order])
    np.testing.assert_allclose(found[0], h, atol=1e-10)
    np.testing.assert_allclose(found[1], r, atol=1e-10)
    parts = form.contributions(X[order])
    np.testing.assert_allclose(weights[order] @ parts[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(weights[order] @ parts[1], 0.0, atol=1e-9)
    for surface in form.surfaces:
        cells = surface.cells(X[order])
        mass = np.zeros(surface.h.shape)
        np.add.at(mass, cells, weights[order])
        for table in (surface.h, surface.r):
            np.testing.assert_allclose((mass * table).sum(axis=0), 0.0, atol=1e-9)
            np.testing.assert_allclose((mass * table).sum(axis=1), 0.0, atol=1e-9)


def test_missing_values_that_training_never_had_add_nothing_to_pairs():
    X, y = random_data(6, m=200, p=3, levels=10)
    problem, _ = make_problem(X, y)
    model, scores = start_of(problem, "coupled", "logistic")
    terms, _ = boost_pairs(problem, scores, np.array([[0, 1]]), 20, with_r=True)
    (surface,) = purified_form(model, terms, problem.bins, np.ones(200)).surfaces
    assert not surface.h[-1].any()
    assert not surface.r[:, -1].any()
    assert surface.h[:-1, :-1].any()
