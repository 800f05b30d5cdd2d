"""`ThresholdRejectClassifier(guarantee=...)`: what it promises holds, and what it certified is what it accepts."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from recuse import Costs, ThresholdRejectClassifier
from recuse.guarantees import NoGuaranteeWarning, Promise


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


def known(levels=None):
    return FrozenEstimator(KnownPosterior(levels).fit(None, None))


def draw(n, rng):
    x = rng.uniform(size=n)
    return x[:, None], (rng.uniform(size=n) < x).astype(int)


def true_error(lower, upper):
    """Error rate of accepted cases for x uniform: below `lower` the error is x, above `upper` it is 1 - x."""
    lower, upper = max(lower, 0.0), min(upper, 1.0)
    covered = lower + 1 - upper
    return (lower**2 / 2 + (1 - upper) ** 2 / 2) / covered if covered > 0 else 0.0


def test_errors_spread_evenly_do_not_hinder_a_guarantee():
    """2 % of errors everywhere: any few of the surest could fail a level of 5 %, all of them together pass."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(0, 0.4, 1000), rng.uniform(0.6, 1, 1000)])
    y = ((x > 0.5) ^ (rng.uniform(size=2000) < 0.02)).astype(int)
    for seed in range(5):
        model = ThresholdRejectClassifier(LogisticRegression(C=100), guarantee=0.05, random_state=seed)
        assert model.fit(x[:, None], y).decide(x[:, None], reasons=False).accepted.mean() > 0.9


@pytest.mark.filterwarnings("ignore::recuse.guarantees.NoGuaranteeWarning")
def test_guarantee_holds_as_often_as_promised():
    """Over many drawings of the calibration cases, the true error exceeds the level in at most 1 - confidence."""
    rng = np.random.default_rng(0)
    exceeded, coverages = 0, []
    trials = 200
    for trial in range(trials):
        X, y = draw(1500, rng)
        fitted = ThresholdRejectClassifier(known(), guarantee=0.1, confidence=0.9, random_state=trial).fit(X, y)
        lower, upper = fitted.thresholds_
        exceeded += true_error(lower, upper) > 0.1
        coverages.append(max(lower, 0) + 1 - min(upper, 1))
    assert exceeded <= 30  # 20 expected at most; 30 would be more than two standard deviations more
    # The best band with an error of 0.1 covers 0.4; a guarantee that never accepts anything would be no use.
    assert np.mean(coverages) > 0.25


@pytest.mark.parametrize("levels", [None, 23, 5])
def test_what_is_certified_is_what_is_accepted(levels):
    rng = np.random.default_rng(3)
    for seed in range(10):
        X, y = draw(800, rng)
        model = ThresholdRejectClassifier(known(levels), guarantee=0.2, random_state=seed).fit(X, y)
        testing = X[model._split_rows(len(X)).testing]
        assert (model.score_samples(testing) > 0).sum() == model.guarantee_.n_accepted


def test_what_cannot_be_shown_is_not_promised_and_the_warning_says_what_could_be():
    X, y = draw(200, np.random.default_rng(1))
    with pytest.warns(
        NoGuaranteeWarning, match=r"guarantee='error<=0.01' cannot be shown: .* could show error<=0"
    ) as said:
        model = ThresholdRejectClassifier(LogisticRegression(), guarantee=0.01).fit(X, y)
    assert [warning.filename for warning in said] == [__file__]
    assert not model.guarantee_.holds
    assert not model.decide(X).accepted.any()
    assert str(model.guarantee_).startswith("Nothing is promised.")
    assert "lies between 0 and 1" in model.decide(X[:1]).reason[0]


def test_as_many_rows_as_the_warning_says_are_enough():
    rng = np.random.default_rng(0)

    def easy(n):
        x = np.where(rng.uniform(size=n) < 0.5, rng.uniform(0, 0.3, n), rng.uniform(0.7, 1, n))
        return x[:, None], (x > 0.5).astype(int)

    model = ThresholdRejectClassifier(LogisticRegression(C=1e4), guarantee=0.02)
    with pytest.warns(NoGuaranteeWarning, match=r"about (\d+) rows would be enough") as said:
        model.fit(*easy(100))
    enough = int(str(said[0].message).split("about ")[1].split()[0])
    assert enough < 1000
    assert model.fit(*easy(int(1.1 * enough))).guarantee_.holds  # "about": how many are accepted is chance


def test_a_hopeless_classifier_is_told_so():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 2, 600)
    with pytest.warns(NoGuaranteeWarning, match=r"\d+ wrong among \d+ accepted.*More rows would not help"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.05, random_state=0).fit(X, y)


def test_guarantee_with_three_classes_and_novelty(overlapping):
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    y = rng.integers(0, 3, 2000)
    X = centres[y] + rng.normal(size=(2000, 2))
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
    with pytest.raises(ValueError, match="knows a positive class, and y has 3 classes"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee="misses<=0.1").fit(X, y)
    with pytest.warns(NoGuaranteeWarning):
        none = ThresholdRejectClassifier(LogisticRegression(), guarantee=0.0001).fit(X, y)
    assert not none.decide(X).accepted.any()


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_every_promise_holds_for_the_positive_class_that_was_named(pos_label):
    X, y = draw(3000, np.random.default_rng(0))
    names = np.array(["no", "yes"])[y]
    prices = Costs(fp=1, fn=3, reject=0.2)
    promises = [Promise("error", 0.25), "misses<=0.15, cost<=0.3"]
    model = ThresholdRejectClassifier(known_as(names), costs=prices, guarantee=promises, pos_label=pos_label)
    model.fit(X, names)
    X_new, y_new = draw(50_000, np.random.default_rng(1))
    new, answers = np.array(["no", "yes"])[y_new], model.decide(X_new, reasons=False)
    positive, wrong, taken = new == pos_label, answers.forced != new, answers.accepted
    assert wrong[taken & positive].mean() <= 0.15
    assert np.where(positive, 3, 1)[taken] @ wrong[taken] / taken.sum() <= 0.3
    by_risk = {shown.risk: shown for shown in model.guarantee_.shown}
    assert list(by_risk) == ["error", "misses", "cost"]
    assert by_risk["misses"].n_cases < by_risk["error"].n_cases == model.guarantee_.n_accepted


def known_as(names):
    model = KnownPosterior().fit(None, None)
    model.classes_ = np.unique(names)
    return FrozenEstimator(model)


def test_guarantee_reads_as_a_sentence():
    X, y = draw(1500, np.random.default_rng(0))
    text = str(ThresholdRejectClassifier(known(), guarantee=0.2, random_state=0).fit(X, y).guarantee_)
    assert text.startswith("With confidence 0.95 the error rate on accepted cases is at most 0.2: ")


def test_guarantee_needs_independent_cases(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="give one case per group"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.2).fit(X, y, groups=np.arange(len(y)) // 2)


def test_guarantee_cannot_weigh_cases(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="leave sample_weight out"):
        ThresholdRejectClassifier(LogisticRegression(), guarantee=0.2).fit(X, y, sample_weight=np.arange(1, len(y) + 1))


@pytest.mark.parametrize("name", ["promise_groups", "shift_weights"])
def test_terms_without_a_guarantee_are_refused(name, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=f"{name} says for whom a guarantee is to hold"):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y, **{name: np.ones(len(y))})
