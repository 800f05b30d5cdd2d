import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.svm import losses
from recuse.svm.qp import problem as qp

from .conic import PRICES


def programs(seed, n=12):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    return qp.from_hinges(losses.double_hinge(PRICES[seed % len(PRICES)]), y, rng.uniform(0.1, 3, n)), rng, y


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_is_conjugate_to_the_gain(seed):
    problem, rng, _ = programs(seed)
    f = rng.normal(scale=3, size=len(problem))
    grid = np.linspace(0, 1, 2001)[:, None]
    u = problem.lower + grid * (problem.upper - problem.lower)
    brute = np.max([problem.gain(row) - row * f for row in u], axis=0)
    np.testing.assert_allclose(problem.loss(f), brute, atol=1e-2)
    assert (problem.loss(f) >= brute - 1e-12).all()
    np.testing.assert_allclose(problem.gain(np.zeros(len(problem))), 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_is_that_of_the_hinges(seed):
    rng = np.random.default_rng(seed)
    y, weight, f = rng.choice([-1.0, 1.0], 20), rng.uniform(0, 2, 20), rng.normal(scale=4, size=20)
    hinges = losses.double_hinge(PRICES[seed])
    np.testing.assert_allclose(qp.from_hinges(hinges, y, weight).loss(f), weight * hinges.value(y, f), atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_no_intercept_is_better(seed):
    problem, rng, _ = programs(seed)
    g = rng.normal(size=len(problem)).round(1)
    b = qp.best_intercept(problem, g)
    grid = np.concatenate([problem.above - g, problem.below - g, np.linspace(-9, 9, 300)])
    values = [problem.loss(g + shift).sum() for shift in grid]
    assert problem.loss(g + b).sum() <= min(values) + 1e-9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=8).filter(
        lambda pairs: any(jump for _, jump in pairs)
    ),
    st.integers(-9, 2),
)
def test_best_shift_is_the_middle_of_the_minimisers(pairs, slope):
    bends, jumps = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))

    def value(s):
        return slope * s + jumps @ np.maximum(s - bends, 0)

    total = slope + jumps.sum()
    if slope > 0 or total < 0:
        return  # no minimum
    best = qp.best_shift(bends, jumps, slope)
    grid = np.arange(-40, 41) / 8
    values = np.array([value(s) for s in grid])
    minimisers = grid[values <= values.min() + 1e-12]
    assert value(best) <= values.min() + 1e-12
    if slope < 0 < total:
        assert best == pytest.approx((minimisers[0] + minimisers[-1]) / 2)
    elif slope == 0 and total > 0:
        assert best == pytest.approx(minimisers[-1])
    elif slope < 0:
        assert best == pytest.approx(minimisers[0])


def test_one_bend_decides_in_floating_point():
    assert qp.best_shift(np.array([0.3, 0.7]), np.array([0.1, 0.2]), -0.1) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(10))
def test_feasible_points(seed):
    problem, rng, _ = programs(seed, n=30)
    beta = qp.feasible(problem, rng.normal(scale=3, size=30))
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    assert abs(beta.sum()) < 1e-12
    again = qp.feasible(problem.scaled(3.7), 3.7 * beta)
    np.testing.assert_allclose(again, 3.7 * beta, atol=1e-11)
    for end, scaled in zip(problem.arrays()[:3], problem.scaled(3.7).arrays()[:3], strict=True):
        # Ends stay ends exactly, but for the one variable that takes up the rounding.
        assert ((again == scaled) >= (beta == end)).sum() >= 29
