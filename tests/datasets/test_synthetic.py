"""Synthetic problems: their stated answers, and parameters that make no sense."""

import numpy as np
import pytest
from scipy.stats import norm

from recuse.datasets import add_novelties, make_gaussian_classes, make_noise_by_feature, make_noisy_region


def test_gaussian_classes_have_the_stated_bayes_error():
    X, y = make_gaussian_classes(200_000, 5, separation=1.5, random_state=0)
    direction = np.ones(5) / np.sqrt(5)
    error = np.mean((X @ direction > 0) != y)
    assert error == pytest.approx(norm.cdf(-0.75), abs=0.005)
    assert np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) == pytest.approx(1.5, abs=0.02)
    assert np.cov(X[y == 1].T) == pytest.approx(np.eye(5), abs=0.03)


def test_gaussian_classes_share_seed_and_order():
    X, y = make_gaussian_classes(2000, 50, separation=1, positive_share=0.3, random_state=3)
    assert X.shape == (2000, 50)
    assert y.dtype == np.int64
    assert y.sum() == 600
    assert 0 < y[:50].sum() < 50  # not sorted by class
    again = make_gaussian_classes(2000, 50, separation=1, positive_share=0.3, random_state=3)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert not np.array_equal(X, make_gaussian_classes(2000, 50, separation=1, positive_share=0.3, random_state=4)[0])


def test_novelties_fill_the_enlarged_box():
    X, y = make_gaussian_classes(100, 2, separation=1, random_state=0)
    Z, labels = add_novelties(X, y, n_novelties=5000, margin=0.25, random_state=0)
    assert np.array_equal(Z[:100], X)
    assert np.array_equal(labels[:100], y)
    assert (labels[100:] == -1).all()
    low, high = X.min(axis=0), X.max(axis=0)
    reach = 0.25 * (high - low)
    novelties = (Z[100:] - (low - reach)) / (high - low + 2 * reach)
    assert novelties.min() >= 0
    assert novelties.max() <= 1
    # Uniform: mean 1/2 and variance 1/12 in each direction.
    assert novelties.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)
    assert novelties.var(axis=0) == pytest.approx([1 / 12, 1 / 12], abs=0.005)


def test_novelties_keep_the_kind_of_the_labels():
    X = [[0.0], [1.0]]
    text = add_novelties(X, ["no", "yes"], n_novelties=1, novelty_label="something else", random_state=0)[1]
    assert text.tolist() == ["no", "yes", "something else"]
    truth = add_novelties(X, [False, True], n_novelties=1, random_state=0)[1]
    assert truth.tolist() == [0, 1, -1]
    assert truth.dtype == np.int64
    unsigned = add_novelties(X, np.array([0, 1], dtype=np.uint64), n_novelties=1, random_state=0)[1]
    assert unsigned.tolist() == [0, 1, -1]
    assert unsigned.dtype == np.int64
    objects = add_novelties(X, np.array(["a", "b"], dtype=object), n_novelties=1, novelty_label="zz", random_state=0)[1]
    assert objects.tolist() == ["a", "b", "zz"]
    assert add_novelties(X, [0, 1], n_novelties=0)[1].tolist() == [0, 1]


def test_noisy_region_is_the_figure():
    X, y, posterior = make_noisy_region(20_000, threshold=0.7, noisy_below=0.3, return_posterior=True, random_state=0)
    x = X.ravel()
    assert X.shape == (20_000, 1)
    assert np.unique(posterior).tolist() == [0, 0.5, 1]
    assert np.array_equal(posterior == 0.5, x <= 0.3)
    clean = x > 0.3
    assert np.array_equal(y[clean] == 1, x[clean] < 0.7)
    assert y[~clean].mean() == pytest.approx(0.5, abs=0.02)
    assert x.mean() == pytest.approx(0.5, abs=0.01)
    assert len(make_noisy_region(5, threshold=0.7, noisy_below=0.3)) == 2


def test_noise_by_feature_has_the_stated_least_cost():
    X, y, posterior = make_noise_by_feature(200_000, n_features=4, return_posterior=True, random_state=0)
    least = [np.minimum(np.minimum(posterior, 1 - posterior), c).mean() for c in (0.1, 0.2, 0.3, 0.4)]
    assert np.mean(least) == pytest.approx(0.12, abs=0.001)
    noisy = X[:, 1] <= 0.35
    flipped = y != (X[:, 0] > 0.5)
    assert noisy.mean() == pytest.approx(0.35, abs=0.005)
    assert flipped[noisy].mean() == pytest.approx(0.5, abs=0.01)
    assert flipped[~noisy].mean() == pytest.approx(0.05, abs=0.003)
    assert X.shape == (200_000, 4)
    # The posterior is the truth: labels agree with it in each of its four values.
    for value in np.unique(posterior):
        assert y[posterior == value].mean() == pytest.approx(value, abs=0.01)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: make_gaussian_classes(1, 2, separation=1), ValueError, r"n_samples must be 2 or more; got 1"),
        (lambda: make_gaussian_classes(10.0, 2, separation=1), TypeError, r"n_samples must be an integer; got 10.0"),
        (lambda: make_gaussian_classes(10, 0, separation=1), ValueError, r"n_features must be 1 or more; got 0"),
        (lambda: make_gaussian_classes(10, 2, separation=-1), ValueError, r"separation must be 0 or more.*got -1"),
        (lambda: make_gaussian_classes(10, 2, separation=np.nan), ValueError, r"separation must be a finite number"),
        (
            lambda: make_gaussian_classes(10, 2, separation=1, positive_share=1),
            ValueError,
            r"positive_share must be a number in \(0, 1\); got 1",
        ),
        (
            lambda: make_gaussian_classes(10, 2, separation=1, positive_share=0.01),
            ValueError,
            r"positive_share=0.01 of n_samples=10 leaves a class empty",
        ),
        (
            lambda: add_novelties([[0], [1]], [0, 1], n_novelties=-1),
            ValueError,
            r"n_novelties must be 0 or more; got -1",
        ),
        (
            lambda: add_novelties([[0], [1]], [0, 1], n_novelties=1, margin=-0.1),
            ValueError,
            r"margin must be 0 or more",
        ),
        (lambda: add_novelties([[0], [1]], [0, 1, 1], n_novelties=1), ValueError, r"expected shape \(2,\), got \(3,\)"),
        (
            lambda: add_novelties([[0], [1]], [-1, 1], n_novelties=1),
            ValueError,
            r"novelty_label=-1 is one of the labels",
        ),
        (lambda: add_novelties([[0], [1]], ["a", "b"], n_novelties=1), ValueError, r"use a text with texts"),
        (
            lambda: add_novelties([[0], [1]], [0, 1], n_novelties=1, novelty_label="new"),
            ValueError,
            r"novelty_label='new' is not of the kind of the labels",
        ),
        (
            lambda: make_noisy_region(0, threshold=0.5, noisy_below=0.2),
            ValueError,
            r"n_samples must be 1 or more; got 0",
        ),
        (
            lambda: make_noisy_region(9, threshold=1, noisy_below=0.2),
            ValueError,
            r"threshold must be a number in \(0, 1\); got 1",
        ),
        (
            lambda: make_noisy_region(9, threshold=0.5, noisy_below=0.5),
            ValueError,
            r"noisy_below must be between 0 and threshold=0.5; got 0.5",
        ),
        (lambda: make_noise_by_feature(9, n_features=1), ValueError, r"n_features must be 2 or more; got 1"),
        (
            lambda: make_noise_by_feature(9, noisy_share=0),
            ValueError,
            r"noisy_share must be a number in \(0, 1\); got 0",
        ),
        (lambda: make_noise_by_feature(9, noisy_error=0.6), ValueError, r"noisy_error must be from 0 to 0.5.*got 0.6"),
        (lambda: make_noise_by_feature(9, clean_error=-0.1), ValueError, r"clean_error must be from 0 to 0.5"),
        (lambda: make_noise_by_feature(True), TypeError, r"n_samples must be an integer; got True"),
    ],
)
def test_bad_parameters_are_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
