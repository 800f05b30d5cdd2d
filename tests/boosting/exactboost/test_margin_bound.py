"""The generalization bound of ExactBoost: its complexities against brute force, its terms against the formulas."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from recuse import ExactBoostClassifier
from recuse.boosting.binning import bin_features
from recuse.boosting.exactboost.margin_bound import THEOREM_1, THEOREM_2, BoundTerms, largest_correlation, rademacher
from recuse.boosting.exactboost.objectives import OBJECTIVES


def test_largest_correlation_equals_brute_force():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, size=(12, 2)).astype(float)
        X[rng.random(X.shape) < 0.2] = np.nan
        X[0] = 1.0
        bins = bin_features(X, np.arange(12), None)
        signs = rng.choice([-1.0, 1.0], 12)
        found = largest_correlation(bins, np.arange(12), signs)
        best = abs(signs.sum())
        for f in range(2):
            for cut in [-np.inf, *np.unique(X[~np.isnan(X[:, f]), f])]:
                for lost in (-1.0, 1.0):
                    stump = np.where(np.isnan(X[:, f]), lost, np.where(X[:, f] > cut, 1.0, -1.0))
                    best = max(best, abs(signs @ stump))
        assert found == pytest.approx(best)


def test_complexity_falls_with_the_number_of_cases():
    rng = np.random.default_rng(0)
    bins = bin_features(rng.normal(size=(4000, 5)), np.arange(4000), 64)
    few, many = (rademacher(bins, np.arange(4000), n, np.random.default_rng(1)) for n in (100, 1600))
    assert few / many == pytest.approx(4.0, rel=0.25)
    all_of_them = rademacher(bins, np.arange(4000), 4000, np.random.default_rng(1))  # measured on half of them
    assert all_of_them / many == pytest.approx(np.sqrt(1600 / 4000), rel=0.1)
    assert 1 / np.sqrt(1600) < many < np.sqrt(2 * np.log(2 * 5 * 64) / 1600)  # above one function, below Massart


def test_terms_of_the_theorems():
    auc = THEOREM_1.bound(BoundTerms("auc", 0.1, 0.5, (0.01, 0.02), (400, 100)), 0.05)
    assert auc.total == pytest.approx(0.1 + 4 / 0.5 * 0.03 + np.sqrt(2 * np.log(20) / 100))
    ks = THEOREM_2.bound(BoundTerms("ks", 0.1, 0.5, (0.01, 0.02), (400, 100)), 0.05)
    assert ks.total == pytest.approx(0.1 + 8 / 0.5 * (0.03 + 0.15) + np.sqrt(np.log(40) / 2) * 0.15)


@pytest.mark.parametrize("metric", ["auc", "ks"])
def test_bound_of_a_model(metric):
    X, y = make_classification(400, n_features=5, random_state=0)
    model = ExactBoostClassifier(metric=metric, margin=0.05, n_estimators=5, random_state=0).fit(X, y)
    bound = model.generalization_bound(0.05)
    assert bound.empirical == model.objective_
    assert bound.vacuous
    assert model.generalization_bound(0.5).total < bound.total
    with pytest.raises(ValueError, match="delta"):
        model.generalization_bound(1.0)
    for options, weight in (({"margin": 0.0}, None), ({"metric": "reject_cost"}, None), ({}, 1 + y)):
        other = ExactBoostClassifier(
            **({"metric": metric, "margin": 0.05, "n_estimators": 2, "random_state": 0} | options)
        )
        with pytest.raises(ValueError, match="The bound is for metric"):
            other.fit(X, y, sample_weight=weight).generalization_bound()


@pytest.mark.parametrize("metric", ["auc", "ks"])
def test_margin_and_sizes_of_the_bound(metric):
    """Stumps of -1 and +1 carry half their shift; divided by the sum the score is a mean of them, the margin too."""
    X, y = make_classification(400, n_features=5, weights=[0.8], random_state=0)
    model = ExactBoostClassifier(metric=metric, n_estimators=5, n_rounds=4, margin=0.1, random_state=0).fit(X, y)
    halves = np.mean([sum(abs(s.shift) / 2 for s in model.stumps_ if s.run == e) for e in range(5)])
    assert 0.49 < halves < 0.75
    theta = 0.1 * np.ptp(model.decision_function(X)) / halves
    sizes, bins = [int((y == c).sum()) for c in (0, 1)], bin_features(X, np.arange(400), 64)
    at = [min(sizes)] * 2 if metric == "auc" else sizes
    R = [rademacher(bins, np.flatnonzero(y == c), at[c], np.random.default_rng(5)) for c in (0, 1)]
    terms = BoundTerms(metric, model.objective_, theta, tuple(R), tuple(sizes))
    expected = OBJECTIVES[metric].theorem.bound(terms, 0.05)
    assert model.generalization_bound(0.05).complexity == pytest.approx(expected.complexity, rel=0.12)
