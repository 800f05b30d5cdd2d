"""Contributions by sampling: they add up, and their standard errors say how far they are off."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from recuse.explaining.sampling import MOST_CALLS, Background, explain_by_sampling

rng = np.random.default_rng(0)
COEFFICIENTS = np.array([2.0, -1.0, 0.5, 0.0, 1.5])


def bends(X):
    """A sum over columns whose contributions are known."""
    return np.asarray(X, dtype=float) @ COEFFICIENTS + np.abs(np.asarray(X, dtype=float)[:, 0])


def exact(X, background):
    parts = X * COEFFICIENTS
    typical = (background * COEFFICIENTS).mean(axis=0)
    parts[:, 0] += np.abs(X[:, 0])
    typical[0] += np.abs(background[:, 0]).mean()
    return parts - typical


def test_estimates_add_up_and_are_compared_with_the_background():
    X, background = rng.normal(size=(30, 5)), rng.normal(size=(40, 5))
    found = explain_by_sampling(bends, X, Background(background, np.arange(5)), "score")
    np.testing.assert_allclose(found.score, bends(X), atol=1e-12)
    assert not found.amounts[:, 3].any()


def test_error_bars_cover_the_exact_value_at_the_stated_rate():
    X, background = rng.normal(size=(10, 5)), rng.normal(size=(64, 5))
    truth, n_draws = exact(X, background), MOST_CALLS // 6
    inside = []
    for seed in range(400):
        found = explain_by_sampling(bends, X, Background(background, np.arange(5)), "score", seed=seed)
        inside.append(np.abs(found.amounts - truth) <= t.ppf(0.975, n_draws - 1) * found.error + 1e-12)
    counts = np.mean(inside, axis=(0, 1))[[0, 1, 2, 4]]
    assert counts == pytest.approx(0.95, abs=0.03)


def test_the_mean_over_many_draws_is_the_shapley_value_where_columns_act_together():
    def product(X):
        return X[:, 0] * X[:, 1]

    X, background = np.array([[2.0, 3.0]]), np.array([[0.0, 1.0]])
    found = [explain_by_sampling(product, X, Background(background, np.arange(2)), "s", seed=s) for s in range(40)]
    # From (0, 1) to (2, 3): 6 in all, of which the first column has 2 or 6, depending on the order.
    np.testing.assert_allclose(np.mean([part.amounts for part in found], axis=0), [[4.0, 2.0]], atol=0.25)


def test_columns_of_one_group_are_replaced_together():
    seen = []

    def score(X):
        seen.append(X.copy())
        return X.sum(axis=1)

    X, background = np.ones((2, 4)), np.zeros((3, 4))
    found = explain_by_sampling(score, X, Background(background, np.array([0, 1, 1, 0])), "score")
    np.testing.assert_allclose(found.amounts, 2.0)
    assert all((part[:, 0] == part[:, 3]).all() and (part[:, 1] == part[:, 2]).all() for part in seen)


def test_the_number_of_calls_is_bounded_and_the_columns_of_most_effect_stand_alone():
    calls = []
    weights = np.zeros(200)
    weights[[5, 120]] = 3.0, -2.0

    def score(X):
        calls.append(len(X))
        return X @ weights

    X, background = rng.normal(size=(1000, 200)), rng.normal(size=(20, 200))
    found = explain_by_sampling(score, X, Background(background, np.arange(200)), "score")
    assert sum(n for n in calls if n == 1000) <= 1.05 * MOST_CALLS * 1000
    assert set(np.argsort(-np.abs(found.amounts).mean(axis=0))[:2]) == {5, 120}
    np.testing.assert_allclose(found.score, score(X), atol=1e-9)


def test_a_case_is_told_the_same_in_any_batch():
    X, background = rng.normal(size=(50, 5)), rng.normal(size=(40, 5))
    whole = explain_by_sampling(bends, X, Background(background, np.arange(5)), "score")
    alone = explain_by_sampling(bends, X[31:32], Background(background, np.arange(5)), "score")
    np.testing.assert_allclose(alone.amounts[0], whole.amounts[31], atol=1e-12)
    np.testing.assert_allclose(alone.error[0], whole.error[31], atol=1e-12)


def test_frames_keep_their_types():
    frame = pd.DataFrame({"age": [30, 60], "town": pd.Categorical(["Ulm", "Bonn"])})

    def score(cases):
        assert isinstance(cases["town"].dtype, pd.CategoricalDtype)
        return cases["age"].to_numpy(dtype=float) / 10 + (cases["town"] == "Ulm").to_numpy() * 1.0

    background = Background(np.array([[20, "Bonn"], [40, "Bonn"]], dtype=object), np.arange(2))
    found = explain_by_sampling(score, frame, background, "score")
    np.testing.assert_allclose(found.amounts[:, 1], [1.0, 0.0])
    np.testing.assert_allclose(found.score, score(frame))
