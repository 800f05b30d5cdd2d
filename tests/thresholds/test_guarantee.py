import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from recuse import ThresholdRejectClassifier
from recuse.thresholds.guarantee import candidate_thresholds, certify, most_errors, rows_needed, smallest_sample


class KnownPosterior(ClassifierMixin, BaseEstimator):
    """P(y = 1 | x) = x: every error rate can be computed exactly. With `levels` the score is rounded: it has ties."""

    def __init__(self, levels=None):
        self.levels = levels

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.fitted_ = True
        return self

    def predict_proba(self, X):
        p = X[:, 0]
        p = p if self.levels is None else (np.floor(p * self.levels) + 0.5) / self.levels
        return np.column_stack([1 - p, p])


def draw(n, rng):
    x = rng.uniform(size=n)
    return x[:, None], (rng.uniform(size=n) < x).astype(int)


def true_error(lower, upper):
    """Error rate of accepted cases for x uniform: below `lower` the error is x, above `upper` it is 1 - x."""
    lower, upper = max(lower, 0.0), min(upper, 1.0)
    covered = lower + 1 - upper
    return (lower**2 / 2 + (1 - upper) ** 2 / 2) / covered if covered > 0 else 0.0


def test_smallest_sample_by_hand():
    assert smallest_sample(0.05, 0.95) == 59
    assert smallest_sample(0.01, 0.95) == 299
    assert 0.95**59 <= 0.05 < 0.95**58


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.03])
def test_rows_needed_are_enough_and_hardly_too_many(rate):
    n = rows_needed(0.05, 0.95, rate)
    assert binom.cdf(math.ceil(n * rate), n, 0.05) <= 0.05
    assert binom.cdf(math.ceil((n - 1) * rate), n - 1, 0.05) > 0.05
    assert rows_needed(0.05, 0.95, 0.05) == math.inf


@pytest.mark.parametrize("n", [10, 58, 59, 92, 93, 500])
def test_most_errors_is_the_last_that_shows_the_level(n):
    most = most_errors(n, 0.05, 0.95)
    assert most == -1 or binom.cdf(most, n, 0.05) <= 0.05
    assert binom.cdf(most + 1, n, 0.05) > 0.05
    assert (most >= 0) == (n >= smallest_sample(0.05, 0.95))


def test_sequence_stops_at_the_first_failure():
    sure = np.arange(300, 0, -1, dtype=float)
    wrong = np.zeros(300, dtype=bool)
    wrong[150:200] = True  # the surest 150 are right; the last 100 are right again
    thresholds = np.array([200.5, 150.5, 90.5, 0.0])
    passed, failed = certify(lambda t: sure > t, wrong, thresholds, level=0.05, confidence=0.95)
    assert (passed.n_accepted, passed.n_errors) == (150, 0)
    assert (failed.n_accepted, failed.n_errors) == (210, 50)
    assert passed.error_bound == pytest.approx(1 - 0.05 ** (1 / 150))
    assert failed.error_bound > 0.05


def test_nothing_passes_when_the_surest_fail():
    sure = np.arange(100.0)
    passed, failed = certify(lambda t: sure > t, np.ones(100, dtype=bool), np.array([20.0]), 0.1, 0.9)
    assert passed is None
    assert failed.error_bound == 1.0


def test_candidates_accept_ever_more_and_end_with_all():
    sure = np.append(np.linspace(0, 1, 90), np.full(10, -np.inf))
    rng = np.random.default_rng(0)
    steep = rng.uniform(size=100) > np.sqrt(np.maximum(sure, 0))  # ever more errors as the confidence falls
    thresholds = candidate_thresholds(sure, steep, 1000, 0.05, 0.95)
    assert (np.diff(thresholds) < 0).all()
    assert thresholds[-1] < 0
    assert np.isfinite(thresholds).all()
    assert smallest_sample(0.05, 0.95) < (sure > thresholds[0]).mean() * 1000 < 500
    # Few errors anywhere: the more cases the better, so all are tried at once.
    flat = np.zeros(100, dtype=bool)
    flat[89] = True  # the surest of all is wrong
    assert len(candidate_thresholds(sure, flat, 1000, 0.05, 0.95)) < 3
    assert len(candidate_thresholds(np.full(5, -np.inf), flat[:5], 100, 0.05, 0.95)) == 0


def test_errors_spread_evenly_do_not_hinder_a_guarantee():
    """2 % of errors everywhere: any few of the surest could fail a level of 5 %, all of them together pass."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(0, 0.4, 1000), rng.uniform(0.6, 1, 1000)])
    y = ((x > 0.5) ^ (rng.uniform(size=2000) < 0.02)).astype(int)
    for seed in range(10):
        model = ThresholdRejectClassifier(LogisticRegression(C=100), guarantee=0.05, random_state=seed)
        assert model.fit(x[:, None], y).decide(x[:, None]).accepted.mean() > 0.9


def test_guarantee_holds_as_often_as_promised():
    """Over many drawings of the calibration cases, the true error exceeds the level in at most 1 - confidence."""
    rng = np.random.default_rng(0)
    model = FrozenEstimator(KnownPosterior().fit(None, None))
    exceeded, coverages = 0, []
    trials = 300
    for trial in range(trials):
        X, y = draw(1500, rng)
        try:
            fitted = ThresholdRejectClassifier(model, guarantee=0.1, confidence=0.9, random_state=trial).fit(X, y)
        except ValueError:  # nothing shown, nothing promised
            coverages.append(0.0)
            continue
        exceeded += true_error(*fitted.thresholds_) > 0.1
        coverages.append(fitted.thresholds_[0] + 1 - fitted.thresholds_[1])
        assert fitted.guarantee_.error_bound <= 0.1
    # 0.1 of 300 is 30; 45 would be nearly three standard deviations more.
    assert exceeded <= 45
    # The best band with an error of 0.1 covers 0.4; a guarantee that never accepts anything would be no use.
    assert np.mean(coverages) > 0.2


def test_guarantee_holds_for_scores_with_ties():
    """23 distinct scores: the cases certified are the cases accepted, and the promise holds."""
    rng = np.random.default_rng(1)
    model = KnownPosterior(levels=23).fit(None, None)
    exceeded, trials = 0, 200
    X_new, y_new = draw(200_000, rng)
    for trial in range(trials):
        X, y = draw(1500, rng)
        reject = ThresholdRejectClassifier(FrozenEstimator(model), guarantee=0.12, confidence=0.9, random_state=trial)
        try:
            reject.fit(X, y)
        except ValueError:
            continue
        accepted = reject.score_samples(X_new) > 0
        exceeded += np.mean((X_new[:, 0] > 0.5)[accepted] != y_new[accepted]) > 0.12
    assert exceeded <= 33  # 20 expected at most, 4.2 their standard deviation


@pytest.mark.parametrize("levels", [None, 23, 5])
def test_what_is_certified_is_what_is_accepted(levels):
    rng = np.random.default_rng(3)
    for seed in range(20):
        X, y = draw(800, rng)
        model = ThresholdRejectClassifier(
            FrozenEstimator(KnownPosterior(levels).fit(None, None)), guarantee=0.2, random_state=seed
        ).fit(X, y)
        _, testing = train_test_split_of(model, X)
        assert (model.score_samples(X[testing]) > 0).sum() == model.guarantee_.n_accepted


def train_test_split_of(model, X):
    """The rows that chose the thresholds and those that tested them."""
    _, placing, testing = model._split_rows(len(X))
    return placing, testing


def test_too_few_rows_says_how_many_would_do():
    X, y = draw(200, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"needs 299 accepted test cases even if none is wrong, and 200 rows leave 45"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.01).fit(X, y)
    with pytest.raises(ValueError, match=r"At least (\d+) rows would be enough") as caught:
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.1, confidence=0.99).fit(X[:50], y[:50])
    enough = int(str(caught.value).split("At least ")[1].split()[0])
    x = np.concatenate([np.linspace(0, 0.3, enough // 2), np.linspace(0.7, 1, enough - enough // 2)])
    easy = (x > 0.5).astype(int)
    model = ThresholdRejectClassifier(LogisticRegression(C=1e4), guarantee=0.1, confidence=0.99, random_state=0)
    assert model.fit(x[:, None], easy).guarantee_.n_errors == 0


def test_a_hopeless_classifier_is_told_so():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 2, 600)
    with pytest.raises(ValueError, match=r"cannot be shown: \d+ wrong among the \d+ most certain test cases"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.05, random_state=0).fit(X, y)


def test_guarantee_with_three_classes_and_novelty(overlapping):
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    y = rng.integers(0, 3, 900)
    X = centres[y] + rng.normal(size=(900, 2))
    model = ThresholdRejectClassifier(
        LogisticRegression(), guarantee=0.05, novelty=IsolationForest(random_state=0), random_state=0
    ).fit(X, y)
    decisions = model.decide(np.vstack([X, [[40.0, 40.0]]]))
    assert decisions.kind[-1] == "novelty"
    accepted = decisions.accepted[:-1]
    assert accepted.mean() > 0.5
    assert (decisions.forced[:-1] != y)[accepted].mean() < 0.05
    with pytest.raises(ValueError, match="fit it on other cases and pass FrozenEstimator"):
        ThresholdRejectClassifier(
            FrozenEstimator(LogisticRegression().fit(X, y)), guarantee=0.05, novelty=IsolationForest()
        ).fit(X, y)


def test_certificate_reads_as_a_sentence():
    X, y = draw(1500, np.random.default_rng(0))
    model = ThresholdRejectClassifier(FrozenEstimator(KnownPosterior().fit(None, None)), guarantee=0.2, random_state=0)
    text = str(model.fit(X, y).guarantee_)
    assert text.startswith("With confidence 0.95 the error rate on accepted cases is at most 0.2:")


def test_guarantee_needs_independent_cases(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="give one case per group"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.2).fit(X, y, groups=np.arange(len(y)) // 2)


def test_guarantee_cannot_weigh_cases(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="leave sample_weight out"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.2).fit(X, y, sample_weight=np.arange(1, len(y) + 1))
