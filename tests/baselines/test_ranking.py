"""RankBoost and the linear KS search against plain versions of themselves."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from recuse.baselines import KSLinearClassifier, RankBoostClassifier
from recuse.metrics import ks_score


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=120) > 0.5).astype(int)
    return X, y


def by_pairs(X, y, n_rounds):
    """RankBoost as it is printed, on the weights of all pairs; a stump says nothing of a missing value."""

    def stump(column, cut):
        return np.where(np.isnan(column), 0.0, np.where(column > cut, 1.0, -1.0))

    pos, neg = X[y == 1], X[y == 0]
    D = np.full((len(pos), len(neg)), 1 / (len(pos) * len(neg)))
    score, losses = np.zeros(len(X)), [1.0]
    for _ in range(n_rounds):
        best = (0.0, None)
        for f in range(X.shape[1]):
            levels = np.unique(X[~np.isnan(X[:, f]), f])
            for cut in (levels[1:] + levels[:-1]) / 2:
                h = [stump(part[:, f], cut) for part in (pos, neg)]
                r = (D * (h[0][:, None] - h[1][None, :])).sum() / 2  # stumps in [-1, 1] differ by 2 at most
                if abs(r) > abs(best[0]) + 1e-12:
                    best = (r, (f, cut, h))
        r, (f, cut, h) = best
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        score += alpha * stump(X[:, f], cut)
        D = D * np.exp(-alpha * (h[0][:, None] - h[1][None, :]))
        losses.append(losses[-1] * D.sum())
        D /= D.sum()
    return score, np.array(losses)


@pytest.mark.parametrize("holes", [False, True])
def test_rankboost_equals_the_algorithm_on_pairs(data, holes):
    X, y = data
    if holes:  # that a value is missing says more than any value, but no stump is made of that
        y = np.random.default_rng(1).permutation(y)
        X = np.where(((y == 1) & (np.arange(120) % 5 > 0))[:, None] & (np.arange(3) == 2), np.nan, X)
    model = RankBoostClassifier(n_rounds=12, max_bins=None).fit(X, y)
    score, losses = by_pairs(X, y, 12)
    h = model.decision_function(X)
    np.testing.assert_allclose(h - h.mean(), score - score.mean(), atol=1e-9)
    np.testing.assert_allclose(model.history_["objective"], losses, rtol=1e-9)


def test_rankboost_bounds_the_auc_and_takes_missing_values(data):
    X, y = data
    model = RankBoostClassifier(n_rounds=50).fit(X, y)
    losses = model.history_["objective"]
    assert (np.diff(losses) <= 1e-12).all()
    assert 1 - roc_auc_score(y, model.decision_function(X)) <= losses[-1]
    holes = X.copy()
    holes[::5, 0] = np.nan
    assert roc_auc_score(y, RankBoostClassifier().fit(holes, y).decision_function(holes)) > 0.8


def test_rankboost_stops_at_separated_classes():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    model = RankBoostClassifier(n_rounds=5).fit(X, y)
    assert (model.predict(X) == y).all()
    assert np.isfinite(model.decision_function(X)).all()
    two = RankBoostClassifier(n_rounds=3).fit(X[[0, -1]], y[[0, -1]])
    assert np.isfinite(two.decision_function(X)).all()
    flat = RankBoostClassifier().fit(np.ones((20, 1)), y)
    assert flat.n_iter_ == 1


def test_linear_search_improves_ks(data):
    X, y = data
    model = KSLinearClassifier().fit(X, y)
    start = LogisticRegression(max_iter=1000).fit(StandardScaler().fit_transform(X), y)
    score = StandardScaler().fit_transform(X) @ start.coef_[0]
    assert model.start_objective_ == pytest.approx(1 - ks_score(y, score))
    assert model.objective_ < model.start_objective_
    assert model.n_iter_ > 5  # five passes narrow the grid to the end when nothing is found
    assert model.objective_ == pytest.approx(1 - ks_score(y, model.decision_function(X)))
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    # No single coefficient can be moved to a better place of the last, narrowest grid.
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    coef = model.coef_[0] * X.std(axis=0)
    for j in range(3):
        for move in 4e-3 * np.linspace(-1, 1, 21):
            assert ks_score(y, Z @ coef + move * Z[:, j]) <= 1 - model.objective_ + 1e-9


def test_linear_search_leaves_alone_what_cannot_be_better():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60) + 8 * y, rng.normal(size=60), np.ones(60)])
    model = KSLinearClassifier().fit(X, y)
    assert max(model.objective_, model.start_objective_) < 1e-12
    assert model.n_iter_ == 5
    scale = np.append(X.std(axis=0)[:2], 1.0)
    start = LogisticRegression(max_iter=1000).fit((X - X.mean(axis=0)) / scale, y).coef_[0]
    np.testing.assert_allclose(model.coef_[0] * scale, start / np.linalg.norm(start), atol=1e-9)


@pytest.mark.parametrize("tied", [False, True])
def test_answers_are_at_the_largest_gap(data, tied):
    X, y = data
    if tied:
        X, y = np.tile([0.0, 1.0, 2.0], 40)[:, None], np.random.default_rng(3).integers(0, 2, 120)
    for model in (RankBoostClassifier(n_rounds=20), KSLinearClassifier(max_iter=3)):
        answers = model.fit(X, y).predict(X)
        rates = [(answers == 1)[y == c].mean() for c in (1, 0)]
        assert rates[0] - rates[1] == pytest.approx(ks_score(y, model.decision_function(X)))
        assert model.objective_ == pytest.approx(1 - ks_score(y, model.decision_function(X)))
        if tied and isinstance(model, KSLinearClassifier):
            assert model.start_objective_ >= model.objective_ - 1e-9


def test_bad_input(data):
    X, y = data
    for model in (RankBoostClassifier(), KSLinearClassifier()):
        with pytest.raises(ValueError, match="one class only"):
            model.fit(X, np.ones(len(y)))
        with pytest.raises(ValueError, match="Only binary classification"):
            model.fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="n_rounds must be 1 or more"):
        RankBoostClassifier(n_rounds=0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        KSLinearClassifier().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match=r"columns \[0, 1, 2\] are too large to be standardised"):
        KSLinearClassifier().fit(X * 1e300, y)
