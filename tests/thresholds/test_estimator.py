import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, IsolationForest, StackingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from recuse import Costs, ExactBoostClassifier, RejectedSamplesError, ThresholdRejectClassifier
from recuse.calibration import CALIBRATIONS, calibrate, log_odds
from recuse.metrics import expected_cost
from tests import reference
from tests.marks import may_reject_all


class CountingClassifier(GaussianNB):
    """Counts how often any copy of it is fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingClassifier.fits += 1
        return super().fit(X, y, sample_weight)


def test_chow_is_the_prices_thresholds_on_the_probabilities(overlapping):
    X, y = overlapping
    prices = Costs(fp=1, fn=3, reject_negative=0.2, reject_positive=0.4)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=prices).fit(X, y)
    p = LogisticRegression().fit(X, y).predict_proba(X)
    assert np.array_equal(model.predict_proba(X), p)
    lower, upper = prices.thresholds
    assert model.thresholds_ == (lower, upper)
    expected = np.where(p[:, 1] > upper, 1, np.where(p[:, 1] < lower, 0, -1))
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(model.decide(X).forced, (p[:, 1] > prices.break_even).astype(int))
    assert not hasattr(model, "fold_thresholds_")


@pytest.mark.parametrize("rule", ["chow", "tuned", "symmetric"])
@pytest.mark.parametrize(
    "wrap",
    [lambda stack: stack, lambda stack: make_pipeline(StandardScaler(), stack), lambda s: GridSearchCV(s, {}, cv=2)],
    ids=["alone", "in a pipeline", "in a search"],
)
def test_probabilities_that_come_with_the_fit_are_used(rule, wrap, overlapping):
    # The default last estimator of a stack is chosen when it is fitted; before, it has no predict_proba.
    X, y = overlapping
    stack = wrap(StackingClassifier([("bayes", GaussianNB()), ("machine", LinearSVC())], cv=2))
    model = ThresholdRejectClassifier(stack, rule=rule, cv=2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), clone(stack).fit(X, y).predict_proba(X))
    assert 0 < model.decide(X).accepted.mean() < 1
    assert all(0 <= threshold <= 1 for threshold in model.thresholds_)


def test_positive_class_can_be_the_first(overlapping):
    X, y = overlapping
    prices = Costs(fp=1, fn=3, reject_negative=0.2, reject_positive=0.4)
    swapped = ThresholdRejectClassifier(LogisticRegression(), costs=prices, pos_label=0).fit(X, y)
    same = ThresholdRejectClassifier(LogisticRegression(), costs=prices.swapped()).fit(X, y)
    assert np.array_equal(swapped.predict(X), same.predict(X))
    assert swapped.score(X, y) == pytest.approx(same.score(X, y))
    assert swapped.costs_ == prices


@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC(), GaussianNB()])
def test_tuned_rule_without_shrinkage_is_the_cheapest_on_cross_validated_scores(base, overlapping):
    X, y = overlapping
    X, y = X[:60], y[:60]
    prices = Costs(fp=1, fn=3, reject=0.3)
    folds = list(StratifiedKFold(3).split(X, y))
    model = ThresholdRejectClassifier(base, costs=prices, rule="tuned", shrinkage=0, cv=folds).fit(X, y)
    method = "predict_proba" if hasattr(base, "predict_proba") else "decision_function"
    scores = cross_val_predict(base, X, y, cv=folds, method=method)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    best = reference.cheapest_band_price(scores, y == 1, prices)
    assert model.objective_ == pytest.approx(best)
    answers = reference.band_answers(scores, *model.thresholds_)
    assert reference.expected_cost(y == 1, answers, prices) == pytest.approx(best)
    # Each fold alone, and how far they are apart.
    for (_, test), (lower, upper) in zip(folds, model.fold_thresholds_, strict=True):
        alone = reference.band_answers(scores[test], lower, upper)
        assert reference.expected_cost(y[test] == 1, alone, prices) == pytest.approx(
            reference.cheapest_band_price(scores[test], y[test] == 1, prices)
        )
    finite = [column[np.isfinite(column)] for column in model.fold_thresholds_.T]
    assert model.threshold_spread_ == pytest.approx([column.std() for column in finite])


def test_folds_plus_one_fits(overlapping):
    X, y = overlapping
    for options, fits in (({}, 1), ({"rule": "tuned", "cv": 4}, 5), ({"coverage": 0.8, "cv": 3}, 4)):
        CountingClassifier.fits = 0
        ThresholdRejectClassifier(CountingClassifier(), **options).fit(X, y)
        assert CountingClassifier.fits == fits


def test_groups_stay_together(overlapping):
    X, y = overlapping
    groups = np.arange(len(y)) // 4
    model = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", cv=GroupKFold(3)).fit(X, y, groups=groups)
    folds = list(GroupKFold(3).split(X, y, groups))
    same = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", cv=folds).fit(X, y)
    assert model.thresholds_ == same.thresholds_


def test_nothing_is_left_from_an_earlier_fit(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", novelty=IsolationForest(random_state=0))
    model.fit(X, y).set_params(rule="chow", novelty=None).fit(X, y)
    for name in ("fold_thresholds_", "threshold_spread_", "novelty_", "guarantee_"):
        assert not hasattr(model, name)
    assert model.decide(X).counts()["novelty"] == 0
    assert (model.n_iter_, model.residual_) == (1, 0.0)
    assert model.objective_ == pytest.approx(expected_cost(y, model.decide(X)))
    model.set_params(novelty=IsolationForest()).predict(X)  # parameters count from the next fit on
    with pytest.raises(ValueError, match="on_reject must be one of"):
        model.set_params(on_reject="maybe").predict(X)


@pytest.mark.parametrize(
    "change",
    [
        {"cv": 150},
        {"novelty": LocalOutlierFactor()},
        {"guarantee": "eror<=0.1"},
        {"pos_label": "ill"},
        {"rule": "bayes"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(change, overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", novelty=IsolationForest(random_state=0))
    model.fit(X, y).set_params(**change)
    before, answers = dict(vars(model)), model.predict(X)
    with pytest.raises((ValueError, TypeError)):
        model.fit(X[:, :1], np.array(["no", "yes"])[y])
    assert vars(model) == before
    assert np.array_equal(model.predict(X), answers)


def test_the_reject_price_does_not_matter_where_a_share_or_a_promise_is_given(overlapping):
    X, y = overlapping
    dear = Costs(fp=1, fn=2, reject=3)
    for rule in ("chow", "tuned", "symmetric"):
        covering = [
            ThresholdRejectClassifier(LogisticRegression(), costs=costs, rule=rule, coverage=0.8).fit(X, y)
            for costs in (dear, Costs(fp=1, fn=2, reject=0.1))
        ]
        assert covering[0].thresholds_ == covering[1].thresholds_
        assert covering[0].decide(X).accepted.mean() == pytest.approx(0.8, abs=0.06)
    promised = ThresholdRejectClassifier(LogisticRegression(), costs=0.7, guarantee=0.45, random_state=0).fit(X, y)
    assert promised.guarantee_.shown[0].bound <= 0.45


def test_reasons_speak_of_the_positive_class(overlapping):
    X, y = overlapping
    names = np.array(["bad", "good"])[y]
    model = ThresholdRejectClassifier(LogisticRegression(), costs=Costs(fp=1, fn=5, reject=0.4), pos_label="bad")
    decisions = model.fit(X, names).decide(X)
    assert decisions[decisions.label == "bad"].reason[0].endswith("of 'bad' is above 0.6")
    assert decisions[decisions.label == "good"].reason[0].endswith("of 'bad' is below 0.08")
    assert "of 'bad' lies between 0.08 and 0.6: x" in decisions[decisions.rejected].reason[0]


@may_reject_all
def test_a_band_without_an_end_says_so():
    X, y = np.zeros((40, 1)), np.tile([0, 1], 20)
    hopeless = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", shrinkage=0, costs=0.1).fit(X, y)
    assert hopeless.predict([[1e6], [-1e6]]).tolist() == [-1, -1]
    assert "no score would be" in hopeless.decide(X).reason[0] or "lies between 0 and 1" in hopeless.decide(X).reason[0]
    assert np.isfinite(hopeless.score_samples(X)).all()


def test_weights_pass_through_searches(overlapping):
    X, y = overlapping
    weights = np.where(y == 1, 5.0, 1.0)
    search = GridSearchCV(make_pipeline(LogisticRegression()), {"logisticregression__C": [1.0]}, cv=2)
    inside = ThresholdRejectClassifier(search, rule="tuned", cv=2).fit(X, y, sample_weight=weights)
    direct = LogisticRegression().fit(X, y, sample_weight=weights)
    assert np.allclose(inside.predict_proba(X), direct.predict_proba(X))


def test_symmetric_rule_keeps_its_centre(overlapping):
    X, y = overlapping
    svm = ThresholdRejectClassifier(SVC(), rule="symmetric", costs=0.2).fit(X, y)
    assert svm.thresholds_[0] == -svm.thresholds_[1] < 0
    probability = ThresholdRejectClassifier(LogisticRegression(), rule="symmetric", costs=0.2).fit(X, y)
    assert sum(probability.thresholds_) == pytest.approx(1)
    assert not hasattr(svm, "predict_proba")


@pytest.mark.parametrize("rule", ["chow", "tuned", "symmetric"])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 1.0])
def test_coverage_is_reached(rule, coverage, overlapping):
    X, y = overlapping
    folds = list(KFold(4).split(X))
    model = ThresholdRejectClassifier(LogisticRegression(), rule=rule, coverage=coverage, cv=folds).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")[:, 1]
    lower, upper = model.thresholds_
    accepted = np.maximum(scores - upper, lower - scores) > 0
    assert coverage <= accepted.mean() <= coverage + 0.06
    if coverage == 1.0:
        assert accepted.all()


def test_three_classes_by_chows_rule():
    X, y = load_iris(return_X_y=True)
    X, names = X[:, :2], load_iris().target_names[y]
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, names)
    p = LogisticRegression().fit(X, names).predict_proba(X)
    expected = np.where(p.max(axis=1) > 0.7, np.unique(names)[p.argmax(axis=1)], "[abstain]")
    assert np.array_equal(model.predict(X), expected)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names) == pytest.approx(1 - expected_cost(names, model.decide(X), costs=0.3))
    wide = ThresholdRejectClassifier(LogisticRegression(), costs=0.3, coverage=0.9).fit(X, names)
    assert wide.decide(X).accepted.mean() == pytest.approx(0.9, abs=0.05)
    rejected = model.decide(X)[~model.decide(X).accepted]
    assert rejected.reason[0].endswith("confusing them costs 1; no probability above 0.7")


@pytest.mark.parametrize(
    "detector",
    [
        IsolationForest(random_state=0),
        OneClassSVM(nu=0.1),
        LocalOutlierFactor(novelty=True),
        EllipticEnvelope(random_state=0),
        make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)),
    ],
    ids=["forest", "svm", "lof", "envelope", "pipeline"],
)
def test_novelties_are_rejected_whatever_the_classifier_says(detector, overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2, novelty=detector).fit(X, y)
    plain = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, y)
    cases = np.vstack([X, np.full((3, X.shape[1]), 60.0)])
    decisions = model.decide(cases)
    outside = detector.fit(X).decision_function(cases) < 0
    assert outside[-3:].all()
    assert np.array_equal(decisions.kind == "novelty", outside)
    ambiguous = ~plain.decide(cases).accepted & ~outside
    assert np.array_equal(decisions.kind == "ambiguity", ambiguous)
    assert np.array_equal(model.predict(cases) == -1, outside | ambiguous)
    assert np.array_equal(decisions.forced, plain.decide(cases).forced)
    assert decisions.reason[-1].startswith("unlike the training cases: ")
    assert sum(decisions.counts().values()) == len(cases)


def test_users_objects_are_never_fitted(overlapping):
    X, y = overlapping
    base, detector = LogisticRegression(), IsolationForest(random_state=0)
    model = ThresholdRejectClassifier(base, rule="tuned", novelty=detector).fit(X, y)
    assert not hasattr(base, "coef_")
    assert not hasattr(detector, "estimators_")
    assert model.estimator is base
    assert clone(model).get_params()["rule"] == "tuned"


def test_prefitted_model_is_used_as_it_is(overlapping):
    X, y = overlapping
    fitted = LogisticRegression().fit(X[:100], y[:100])
    before = fitted.coef_.copy()
    model = ThresholdRejectClassifier(FrozenEstimator(fitted), costs=0.2, rule="tuned").fit(X[100:], y[100:])
    assert np.array_equal(fitted.coef_, before)
    assert np.array_equal(model.predict_proba(X), fitted.predict_proba(X))
    scores = fitted.predict_proba(X[100:])[:, 1]
    assert model.objective_ == pytest.approx(
        reference.expected_cost(y[100:] == 1, reference.band_answers(scores, *model.thresholds_), Costs())
    )


def test_prefitted_model_of_other_classes_is_refused(overlapping):
    X, y = overlapping
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"fitted to the classes \[0, 1\], but y has \['no', 'yes'\]"):
        ThresholdRejectClassifier(FrozenEstimator(fitted)).fit(X, np.array(["no", "yes"])[y])


@may_reject_all
def test_works_around_pipelines_searches_calibration_and_missing_values(overlapping):
    X, y = overlapping
    with_holes = X.copy()
    with_holes[::7, 1] = np.nan
    for base, data in (
        (make_pipeline(StandardScaler(), LogisticRegression()), X),
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2), X),
        (CalibratedClassifierCV(LinearSVC(), cv=2), X),
        (KNeighborsClassifier(), X),
        (HistGradientBoostingClassifier(max_iter=5), with_holes),
        (LogisticRegression(), sparse.csr_array(X)),
    ):
        for rule in ("chow", "tuned"):
            answers = ThresholdRejectClassifier(base, rule=rule, costs=0.2, cv=2).fit(data, y).predict(data)
            assert set(np.unique(answers)) <= {-1, 0, 1}


def test_text_can_be_classified():
    texts = ["good fine", "bad poor", "fine day", "poor show", "good day", "bad day"] * 5
    labels = ["praise", "blame"] * 15
    model = ThresholdRejectClassifier(make_pipeline(CountVectorizer(), LogisticRegression()), costs=0.3)
    assert set(model.fit(texts, labels).predict(["good", "unheard of"])) <= {"praise", "blame", "[abstain]"}


@pytest.mark.parametrize("rule", ["chow", "tuned", "symmetric"])
def test_weight_zero_is_absent(rule, overlapping):
    X, y = overlapping
    weights = np.ones(len(y))
    weights[::5] = 0
    model = ThresholdRejectClassifier(LogisticRegression(), rule=rule, costs=0.2)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    absent = clone(model).fit(X[weights > 0], y[weights > 0])
    assert weighted.thresholds_ == pytest.approx(absent.thresholds_)
    assert np.array_equal(weighted.predict(X), absent.predict(X))


def test_weights_reach_the_last_step_of_a_pipeline(overlapping):
    X, y = overlapping
    weights = np.where(y == 1, 5.0, 1.0)
    inside = ThresholdRejectClassifier(make_pipeline(LogisticRegression())).fit(X, y, sample_weight=weights)
    direct = LogisticRegression().fit(X, y, sample_weight=weights)
    assert np.allclose(inside.predict_proba(X), direct.predict_proba(X))


def test_on_reject(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, y)
    rejected = np.flatnonzero(model.predict(X) == -1)
    with pytest.raises(
        RejectedSamplesError, match=rf"{len(rejected)} cases were rejected \(rows {rejected[0]}"
    ) as error:
        model.set_params(on_reject="raise").predict(X)
    assert np.array_equal(error.value.rows, rejected)
    accepted = np.setdiff1d(np.arange(len(y)), rejected)
    assert set(model.predict(X[accepted])) == {0, 1}
    never = model.set_params(on_reject="never").predict(X)
    assert np.array_equal(never, model.decide(X).forced)
    assert model.decide(X).counts()["ambiguity"] == len(rejected)
    assert model.score(X, y) == pytest.approx((never == y).mean())


def test_score_is_one_minus_relative_cost(overlapping):
    X, y = overlapping
    prices = Costs(fp=2, fn=8, reject=1)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=prices).fit(X, y)
    weights = np.arange(1.0, len(y) + 1)
    cost = expected_cost(y, model.predict(X), costs=prices, reject_label=-1, sample_weight=weights)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(1 - cost / 8)
    with pytest.raises(ValueError, match=r"y holds labels that are not among the classes \[0, 1\]"):
        model.score(X, y + 1)


def test_reasons_name_score_and_threshold(overlapping):
    X, y = overlapping
    names = np.array(["healthy", "ill"])[y]
    decisions = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, names).decide(X)
    assert decisions[decisions.label == "ill"].reason[0].endswith("of 'ill' is above 0.8")
    assert decisions[decisions.label == "healthy"].reason[0].endswith("of 'ill' is below 0.2")
    assert "of 'ill' lies between 0.2 and 0.8: x" in decisions[~decisions.accepted].reason[0]
    score = ThresholdRejectClassifier(LinearSVC(), rule="tuned", costs=0.2).fit(X, names).decide(X)
    assert score.reason[0].startswith("score ")
    without = ThresholdRejectClassifier(LogisticRegression()).fit(X, names).decide(X, reasons=False)
    assert set(without.reason) == {""}


def test_n_jobs_does_not_change_the_answer(overlapping):
    X, y = overlapping
    one = ThresholdRejectClassifier(LogisticRegression(), rule="tuned").fit(X, y)
    two = ThresholdRejectClassifier(LogisticRegression(), rule="tuned", n_jobs=2).fit(X, y)
    assert one.thresholds_ == two.thresholds_


BAD = [
    ({"rule": "bayes"}, "rule must be one of 'chow', 'tuned', 'symmetric'; got 'bayes'"),
    ({"coverage": 0}, r"coverage must be a number in \(0, 1\]; got 0"),
    ({"coverage": "all"}, r"coverage must be a number in \(0, 1\]; got 'all'"),
    ({"guarantee": 1.0}, r"guarantee must be a number in \(0, 1\); got 1.0"),
    ({"guarantee": 0.2, "coverage": 0.5}, "coverage and guarantee both set the thresholds: give one of them"),
    ({"guarantee": 0.2, "confidence": 1.5}, r"confidence must be a number in \(0, 1\); got 1.5"),
    ({"guarantee": 0.2, "calibration_size": 0}, r"calibration_size must be a number in \(0, 1\); got 0"),
    ({"on_reject": "ignore"}, "on_reject must be one of 'label', 'raise', 'never'; got 'ignore'"),
    ({"pos_label": "ill"}, r"pos_label='ill' must be one of the classes \[0, 1\]"),
    ({"novelty": True}, r"novelty must be an outlier detector such as IsolationForest\(\) or None; got True"),
    ({"novelty": LogisticRegression()}, "novelty must be an outlier detector"),
    ({"reject_label": 1}, r"reject_label=1 is one of the classes \[0, 1\]"),
    ({"costs": 0.5}, r"Rejecting never pays at Costs\(fp=1.0, fn=1.0, reject=0.5\).*just below 0.5"),
    ({"costs": Costs(fp=1, fn=4, reject=0.9)}, "largest reject price that pays is just below 0.8"),
    ({"costs": -0.1}, "costs must be a finite price greater than 0; got -0.1"),
    ({"costs": float("nan")}, "costs must be a finite price greater than 0; got nan"),
    ({"costs": "cheap"}, r"costs must be a recuse.Costs or a reject price such as 0.2; got 'cheap'"),
    ({"novelty": LocalOutlierFactor()}, "cannot score new cases.*LocalOutlierFactor needs novelty=True"),
    ({"estimator": LinearSVC()}, "rule='chow' needs probabilities, and estimator=LinearSVC has no predict_proba"),
    ({"estimator": LogisticRegression}, r"estimator must be a classifier such as LogisticRegression\(\); got <class"),
    ({"estimator": StandardScaler()}, r"estimator must be a classifier such as"),
    ({"estimator": None}, r"estimator must be a classifier such as LogisticRegression\(\); got None"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[str(options) for options, _ in BAD])
def test_bad_parameters(options, message, overlapping):
    X, y = overlapping
    with pytest.raises((ValueError, TypeError), match=message):
        ThresholdRejectClassifier(**({"estimator": LogisticRegression()} | options)).fit(X, y)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "Input X contains NaN"),
        (lambda X, y: (np.where(X[0, 0] == X, np.inf, X), y), "Input X contains infinity"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X[:0], y[:0]), "X and y are empty"),
        (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y: (X, np.zeros_like(y)), "y holds one class only, 0: a classifier needs cases of two classes"),
        (lambda X, y: (X, None), "requires y to be passed, but the target y is None"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type: continuous"),
        (lambda X, y: (X, np.where(y == 1, np.nan, y.astype(float))), "y holds missing values"),
        (lambda X, y: (X, np.column_stack([y, y])), r"y should be a 1d array"),
    ],
    ids=["nan", "inf", "lengths", "empty", "one-dimensional", "one class", "no y", "continuous", "nan label", "2-d y"],
)
def test_bad_data(spoil, message, overlapping):
    X, y = spoil(*overlapping)
    with pytest.raises(ValueError, match=message):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y)


def test_three_classes_where_unsupported():
    X, y = make_classification(n_samples=60, n_classes=3, n_informative=4, random_state=0)
    with pytest.raises(ValueError, match="differ by class, which is defined for two classes only; got 3 classes"):
        ThresholdRejectClassifier(LogisticRegression(), costs=Costs(fp=1, fn=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"pos_label=1 names one of two classes; y has \[0, 1, 2\]"):
        ThresholdRejectClassifier(LogisticRegression(), pos_label=1).fit(X, y)


def test_weights_that_cannot_be_used(overlapping):
    X, y = overlapping
    with pytest.raises(TypeError, match="estimator=KNeighborsClassifier cannot be fitted with it"):
        ThresholdRejectClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.arange(1, len(y) + 1))
    with pytest.raises(ValueError, match="y holds one class only"):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y, sample_weight=np.full(len(y), -1.0))


def test_no_score_at_all(overlapping):
    class Oracle(Perceptron):
        decision_function = property(lambda self: (_ for _ in ()).throw(AttributeError("none")))

    with pytest.raises(TypeError, match="has neither predict_proba nor decision_function"):
        ThresholdRejectClassifier(Oracle(), rule="tuned").fit(*overlapping)


def _lending():
    X, y = make_classification(300, n_features=5, flip_y=0.1, random_state=3)
    return X, np.where(y == 1, "default", "paid")


def _inner(**options):
    return ExactBoostClassifier(n_estimators=5, n_rounds=5, random_state=0, **options)


@pytest.mark.parametrize(
    "surround",
    [
        lambda inner: inner,
        lambda inner: make_pipeline(StandardScaler(), inner),
        lambda inner: GridSearchCV(inner, {"n_rounds": [3]}, cv=2),
        lambda inner: CalibratedClassifierCV(make_pipeline(StandardScaler(), inner), cv=2),
        lambda inner: FrozenEstimator(inner.fit(*_lending())),
    ],
)
def test_the_positive_class_of_the_wrapped_classifier_is_taken_over(surround):
    X, y = _lending()
    prices = Costs(fp=1, fn=5, reject=0.3)
    wrapped = surround(_inner(pos_label="default", costs=prices))
    taken = ThresholdRejectClassifier(wrapped, rule="tuned", costs=prices).fit(X, y)
    stated = ThresholdRejectClassifier(wrapped, rule="tuned", costs=prices, pos_label="default").fit(X, y)
    assert taken.pos_label_ == "default"
    assert taken.thresholds_ == stated.thresholds_
    decisions = taken.decide(X)
    assert decisions.pos_label == "default"
    misses = np.mean((y == "default") & (decisions.label == "paid"))
    alarms = np.mean((y == "paid") & (decisions.label == "default"))
    assert expected_cost(y, decisions) == pytest.approx(5 * misses + alarms + 0.3 * decisions.rejected.mean())


def test_a_positive_class_that_contradicts_the_wrapped_one_is_refused():
    X, y = _lending()
    model = ThresholdRejectClassifier(_inner(pos_label="default"), rule="tuned", pos_label="paid")
    with pytest.raises(ValueError, match="pos_label='paid' contradicts pos_label='default' of the wrapped estimator"):
        model.fit(X, y)
    unknown = ThresholdRejectClassifier(_inner(pos_label="late"), rule="tuned")
    with pytest.raises(ValueError, match=r"pos_label='late' must be one of the classes \['default', 'paid'\]"):
        unknown.fit(X, y)


def test_without_a_named_positive_class_the_second_is_positive():
    X, y = _lending()
    assert ThresholdRejectClassifier(_inner(), rule="tuned").fit(X, y).pos_label_ == "paid"
    # Bagging numbers the classes for the classifiers inside: what they call positive is no label of ours.
    bagged = BaggingClassifier(_inner(pos_label=0), n_estimators=2, random_state=0)
    assert ThresholdRejectClassifier(bagged, rule="tuned", cv=2).fit(X, y).pos_label_ == "paid"
    assert ThresholdRejectClassifier(_inner(), rule="tuned", pos_label="default").fit(X, y).pos_label_ == "default"


@pytest.mark.parametrize("calibration", [*CALIBRATIONS, "auto"])
@pytest.mark.parametrize("base", [LinearSVC(), GaussianNB()])
def test_calibrated_scores_are_held_out_scores_through_the_map(base, calibration, overlapping):
    X, y = overlapping
    folds = list(StratifiedKFold(3).split(X, y))
    model = ThresholdRejectClassifier(base, calibration=calibration, cv=folds, costs=0.2).fit(X, y)
    p = model.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1)
    probabilistic = hasattr(base, "predict_proba")
    held_out = cross_val_predict(base, X, y, cv=folds, method="predict_proba" if probabilistic else "decision_function")
    held_out = log_odds(held_out[:, 1]) if probabilistic else held_out
    fitted = calibrate(calibration, held_out, y == 1, np.ones(len(y)))
    full = clone(base).fit(X, y)
    score = log_odds(full.predict_proba(X)[:, 1]) if probabilistic else full.decision_function(X)
    assert p[:, 1] == pytest.approx(fitted(score))
    assert model.thresholds_ == (0.2, 0.8)
    accepted = (p[:, 1] < 0.2) | (p[:, 1] > 0.8)
    assert (model.decide(X).accepted == accepted).all()
    assert "probability" in model.decide(X).reason[0]


def test_calibration_makes_chows_rule_cheaper_for_overconfident_probabilities():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3_000, 1))
    X = np.hstack([z + 0.1 * rng.normal(size=(3_000, 1)) for _ in range(6)])  # naive Bayes counts one clue six times
    y = (rng.random(3_000) < expit(1.5 * z[:, 0])).astype(int)
    raw, mended = (
        ThresholdRejectClassifier(GaussianNB(), costs=0.2, calibration=how).fit(X[:1_000], y[:1_000])
        for how in (None, "sigmoid")
    )
    assert mended.score(X[1_000:], y[1_000:]) > raw.score(X[1_000:], y[1_000:]) + 0.01


def test_calibration_is_by_known_maps(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=r"calibration must be one of 'auto', 'temperature'.*got 'platt'"):
        ThresholdRejectClassifier(LinearSVC(), calibration="platt").fit(X, y)
    with pytest.raises(ValueError, match="shrinkage must be a finite number at least 0; got -1"):
        ThresholdRejectClassifier(LogisticRegression(), rule="tuned", shrinkage=-1).fit(X, y)


def test_calibration_of_an_earlier_fit_is_forgotten(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(GaussianNB(), calibration="isotonic").fit(X, y)
    again = model.set_params(calibration=None).fit(X, y)
    assert not hasattr(again, "calibrator_")
    assert again.predict_proba(X) == pytest.approx(GaussianNB().fit(X, y).predict_proba(X))


# Scores that are none


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are replaced by others, from the fit on or after it."""

    def __init__(self, wrong=np.nan, at_fit=True, method="predict_proba"):
        self.wrong, self.at_fit, self.method = wrong, at_fit, method

    def fit(self, X, y):
        self.model_, self.classes_, self.broken_ = LogisticRegression().fit(X, y), np.unique(y), self.at_fit
        return self

    def _scores(self, X):
        scores = self.model_.predict_proba(X) if self.method == "predict_proba" else self.model_.decision_function(X)
        if self.broken_:
            scores[-1] = self.wrong
        return scores

    def __getattr__(self, name):
        if name == self.__dict__.get("method"):
            return self._scores
        raise AttributeError(name)


@pytest.mark.parametrize("at_fit", [True, False], ids=["fit", "predict"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.nan, r"Broken\.predict_proba gives NaN for 1 of \d+ cases: look at how it was fitted"),
        (1.5, r"Broken\.predict_proba gives 1\.5, which is no probability"),
        (-0.5, r"Broken\.predict_proba gives -0\.5, which is no probability"),
    ],
)
def test_what_is_no_probability_is_refused(wrong, message, at_fit, n_classes, overlapping):
    X, y = overlapping
    y = (y + (X[:, 0] > 1)) % n_classes
    model = ThresholdRejectClassifier(Broken(wrong, at_fit), costs=0.2)
    if at_fit:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
        return
    model.fit(X, y).estimator_.broken_ = True
    for method in (model.predict, model.decide, model.decision_function, model.score_samples, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_probabilities_that_miss_1_by_rounding_are_probabilities(overlapping):
    X, y = overlapping
    assert ThresholdRejectClassifier(Broken(1 + 1e-7), costs=0.2).fit(X, y).predict(X)[-1] == 1


def test_a_score_that_is_no_number_is_refused(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(Broken(method="decision_function"), rule="tuned", cv=2)
    with pytest.raises(ValueError, match=r"Broken\.decision_function gives NaN"):
        model.fit(X, y)


def test_a_detector_that_gives_no_number_is_refused(overlapping):
    class Silent(OutlierMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def decision_function(self, X):
            return np.full(len(X), np.nan)

    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), novelty=Silent())
    with pytest.raises(ValueError, match=r"Silent\.decision_function gives NaN for 240 of 240 cases"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")  # a fit that fails leaves nothing behind
