import pickle
import warnings
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, ThresholdRejectClassifier, cross_val_decide, metrics
from recuse.metrics import expected_cost, get_scorer, get_scorer_names, ks_score
from recuse.metrics.scorers import SCORERS
from tests.marks import may_reject_all


@pytest.fixture(autouse=True)
def _quiet_about_booleans():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The labels are booleans")
        yield


def scorer_of(name):
    """The scorer, with the option that one of them cannot do without."""
    return get_scorer(name, **({"k": 24} if name == "precision_at_k" else {}))


@pytest.mark.parametrize("name", get_scorer_names())
def test_every_name_works_for_every_label_family(name, family, overlapping):
    X, y = overlapping
    labels = family[0][y]
    model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=0.2))
    search = GridSearchCV(model, {"thresholdrejectclassifier__costs": [0.2]}, cv=2).fit(X, labels)
    scorer = scorer_of(name)
    values = [scorer(estimator, X, labels) for estimator in (search.best_estimator_, search)]
    assert np.isfinite(values).all()
    assert values[0] == values[1]
    reference = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    scaled = StandardScaler().fit_transform(X)
    assert scorer(reference.fit(scaled, y), scaled, y) == pytest.approx(values[0])


@pytest.mark.parametrize("name", get_scorer_names())
def test_every_name_works_as_scoring(name, overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    assert np.isfinite(cross_val_score(model, X, y, scoring=scorer_of(name), cv=3)).all()


def test_several_scorers_at_once(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    results = cross_validate(model, X, y, scoring={name: scorer_of(name) for name in get_scorer_names()}, cv=3)
    assert {f"test_{name}" for name in get_scorer_names()} <= set(results)


@pytest.mark.parametrize("name", get_scorer_names())
def test_pickles(name, overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression()).fit(X, y)
    scorer = scorer_of(name)
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


@pytest.mark.parametrize("name", get_scorer_names())
def test_hashes(name):
    scorer = scorer_of(name)
    assert hash(scorer) == hash(scorer_of(name))
    assert len({scorer, scorer_of(name), scorer.set_score_request()}) == 2


def test_scorers_with_options_that_have_no_hash_can_be_keys():
    first, second = (get_scorer("coverage", labels=labels) for labels in ([0, 1], [1, 0]))
    assert {first: 1, second: 2}[get_scorer("coverage", labels=[1, 0])] == 2


def test_prices_and_positive_class_of_the_model_are_used(overlapping):
    X, y = overlapping
    prices = Costs(fp=1, fn=4, reject=0.3)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=prices, pos_label=0).fit(X, y)
    expected = expected_cost(y, model.predict(X), costs=prices, pos_label=0, reject_label=-1)
    assert get_scorer("neg_expected_cost")(model, X, y) == pytest.approx(-expected)
    assert model.score(X, y) == pytest.approx(1 - expected / 4)
    other = get_scorer("neg_expected_cost", costs=0.1, pos_label=1)
    assert other(model, X, y) == pytest.approx(-expected_cost(y, model.predict(X), costs=0.1, reject_label=-1))


@pytest.mark.parametrize("name", get_scorer_names())
def test_a_scorer_is_its_metric_with_a_sign(name, overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=Costs(fp=1, fn=3, reject=0.3), pos_label=0).fit(X, y)
    decisions = model.decide(X)
    by_hand = {
        "neg_expected_cost": -metrics.expected_cost(
            y, decisions.label, costs=model.costs, pos_label=0, reject_label=-1
        ),
        "coverage": decisions.accepted.mean(),
        "neg_rejection_rate": -decisions.rejected.mean(),
        "selective_accuracy": (decisions.label == y)[decisions.accepted].mean(),
        "neg_aurc": -metrics.aurc_score(y, decisions.forced, decisions.r),
        "neg_eaurc": -metrics.eaurc_score(y, decisions.forced, decisions.r),
        "neg_augrc": -metrics.augrc_score(y, decisions.forced, decisions.r),
        "neg_risk_at_coverage": -metrics.risk_at_coverage(y, decisions.forced, decisions.r, coverage=0.9),
        "coverage_at_risk": metrics.coverage_at_risk(y, decisions.forced, decisions.r, risk=0.05),
        "ks": metrics.ks_score(y, -decisions.h, pos_label=0),
        "precision_at_k": metrics.precision_at_k_score(y, -decisions.h, k=24, pos_label=0),
    }
    assert scorer_of(name)(model, X, y) == pytest.approx(by_hand[name])
    assert len({round(abs(value), 12) for value in by_hand.values()}) >= 10  # no two metrics stand in for each other


def test_ranking_scorers_score_the_named_class_and_refuse_three(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), pos_label=0).fit(X, y)
    h = model.decision_function(X)
    assert get_scorer("precision_at_k", k=60)(model, X, y) == metrics.precision_at_k_score(y, -h, k=60, pos_label=0)
    assert get_scorer("precision_at_k", k=60, pos_label=1)(model, X, y) == metrics.precision_at_k_score(y, h, k=60)
    iris = load_iris()
    three = ThresholdRejectClassifier(LogisticRegression(max_iter=1000)).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match=r"A ranking metric needs two classes; the classifier has \[0, 1, 2\]"):
        get_scorer("ks")(three, iris.data, iris.target)


@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB()])
@pytest.mark.parametrize("surround", [lambda c: c, lambda c: make_pipeline(StandardScaler(), c)])
def test_ranking_scorers_take_any_classifier(classifier, surround, overlapping):
    X, y = overlapping
    labels = np.array(["bad", "good"])[y]
    model = surround(clone(classifier)).fit(X, labels)
    p = model.predict_proba(X)
    assert get_scorer("ks")(model, X, labels) == metrics.ks_score(labels, p[:, 1])
    bad = get_scorer("precision_at_k", k=30, pos_label="bad")
    assert bad(model, X, labels) == metrics.precision_at_k_score(labels, p[:, 0], k=30, pos_label="bad")
    scores = cross_val_score(surround(clone(classifier)), X, labels, scoring=bad, cv=3)
    assert scores.min() > 0.5


def test_ranking_scorers_find_a_named_positive_class_and_refuse_what_has_no_score(overlapping):
    X, y = overlapping
    inner = ThresholdRejectClassifier(LogisticRegression(), pos_label=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), inner), {}, cv=2).fit(X, y)
    h = search.decision_function(X)
    assert get_scorer("precision_at_k", k=9)(search, X, y) == metrics.precision_at_k_score(y, -h, k=9, pos_label=0)
    with pytest.raises(TypeError, match="needs decision_function or predict_proba of a classifier; LinearRegression"):
        get_scorer("ks")(LinearRegression().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        get_scorer("ks")(LogisticRegression(), X, y)


def test_precision_at_k_needs_k_as_its_metric_does():
    with pytest.raises(TypeError, match=r"precision_at_k needs k=: get_scorer\('precision_at_k', k=\.\.\.\)"):
        get_scorer("precision_at_k")
    with pytest.raises(TypeError, match="k"):
        metrics.precision_at_k_score([0, 1], [0.1, 0.2])


def test_unknown_options_are_refused_at_once():
    with pytest.raises(TypeError, match="coverage takes labels, reject_label; got k"):
        get_scorer("coverage", k=3)


def test_weights_are_routed_when_requested(overlapping):
    X, y = overlapping
    weights = np.where(y == 1, 10.0, 1.0)
    model = ThresholdRejectClassifier(make_pipeline(LogisticRegression()), rule="tuned", cv=2)
    scorer = get_scorer("neg_expected_cost")
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        model.estimator[-1].set_fit_request(sample_weight=True)
        scores = [
            GridSearchCV(model, {"costs": [0.2]}, cv=2, scoring=scorer.set_score_request(sample_weight=wanted))
            .fit(X, y, sample_weight=weights)
            .best_score_
            for wanted in (True, False)
        ]
    assert scores[0] != scores[1]


def test_a_search_with_a_scorer_can_be_saved(overlapping, tmp_path):
    X, y = overlapping
    for name in ("ks", "neg_expected_cost"):
        search = GridSearchCV(
            ThresholdRejectClassifier(LogisticRegression()), {"costs": [0.2]}, cv=2, scoring=scorer_of(name)
        ).fit(X, y)
        recuse.save(search, tmp_path / "search.skops")
        assert recuse.load(tmp_path / "search.skops").score(X, y) == search.score(X, y)


def test_sample_weight_and_options(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression()).fit(X, y)
    weights = np.arange(1, len(y) + 1)
    assert get_scorer("ks")(model, X, y, sample_weight=weights) == pytest.approx(
        ks_score(y, model.decision_function(X), sample_weight=weights)
    )
    assert get_scorer("precision_at_k", k=5)(model, X, y) != get_scorer("precision_at_k", k=100)(model, X, y)
    assert repr(get_scorer("precision_at_k", k=5)) == "get_scorer('precision_at_k', k=5)"


def test_a_search_over_the_reject_price_does_not_always_choose_never_reject(overlapping):
    X, y = overlapping
    grid = {"on_reject": ["never", "label"], "rule": ["chow", "tuned"]}
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.1)
    search = GridSearchCV(model, grid, cv=3).fit(X, y)  # the classifier's own score
    assert search.best_params_["on_reject"] == "label"
    dear = GridSearchCV(model.set_params(costs=0.49), grid, cv=3).fit(X, y)
    assert dear.best_score_ < search.best_score_


def test_unknown_name_and_missing_reject_option(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=r"name must be one of 'neg_expected_cost', .*; got 'cost'"):
        get_scorer("cost")
    with pytest.raises(TypeError, match="LogisticRegression has no reject option: wrap it"):
        get_scorer("coverage")(LogisticRegression().fit(X, y), X, y)
    assert set(SCORERS) == set(get_scorer_names())


def test_scorer_agrees_with_cross_val_decide(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    folds = [(np.arange(80, 240), np.arange(80)), (np.arange(160), np.arange(160, 240))]
    folds.append((np.r_[np.arange(80), np.arange(160, 240)], np.arange(80, 160)))
    per_fold = cross_val_score(model, X, y, scoring=get_scorer("neg_expected_cost"), cv=folds)
    assert -per_fold.mean() == pytest.approx(expected_cost(y, cross_val_decide(model, X, y, cv=folds), costs=0.2))


# Searches over prices


def _by_name(costs, **options):
    return GridSearchCV(ThresholdRejectClassifier(LogisticRegression()), {"costs": costs}, cv=2, **options)


def _in_a_pipeline(costs, **options):
    model = make_pipeline(StandardScaler(), make_pipeline(ThresholdRejectClassifier(LogisticRegression())))
    return GridSearchCV(model, {"pipeline__thresholdrejectclassifier__costs": costs}, cv=2, **options)


def _in_one_of_two_grids(costs, **options):
    model = ThresholdRejectClassifier(LogisticRegression(), costs=costs[0])
    return GridSearchCV(model, [{"rule": ["tuned"]}, {"costs": costs[1:]}], cv=2, **options)


def _at_random(costs, **options):
    model = ThresholdRejectClassifier(LogisticRegression())
    return RandomizedSearchCV(model, {"costs": uniform(costs[0], costs[-1])}, n_iter=2, cv=2, random_state=0, **options)


SEARCHES = [_by_name, _in_a_pipeline, _in_one_of_two_grids, _at_random]


@may_reject_all
@pytest.mark.parametrize("search_over", SEARCHES)
@pytest.mark.parametrize(
    "options",
    [{}, {"scoring": get_scorer("neg_expected_cost")}, {"refit": False}, {"n_jobs": 2}],
    ids=["score", "scorer without prices", "no refit", "other processes"],
)
def test_a_search_over_prices_without_fixed_ones_warns_once(search_over, options, overlapping):
    search = search_over([0.05, 0.4], **options)
    with pytest.warns(UserWarning, match=r"SearchCV varies costs and judges every model at its own prices") as caught:
        search.fit(*overlapping)
    said = [warning for warning in caught if "varies costs" in str(warning.message)]
    assert [warning.filename for warning in said] == [__file__]
    if search_over is _by_name and search.refit:
        assert search.best_params_["costs"] == 0.05  # the cheapest


class ComparedSearch(GridSearchCV):
    """Equal to others by its parameters, so that it has no hash."""

    def __eq__(self, other):
        return type(self) is type(other) and self.param_grid == other.param_grid


@may_reject_all
def test_a_search_without_a_hash_warns_once_too(overlapping):
    search = ComparedSearch(ThresholdRejectClassifier(LogisticRegression()), {"costs": [0.05, 0.4]}, cv=2)
    with pytest.warns(UserWarning, match="ComparedSearch varies costs") as caught:
        search.fit(*overlapping)
    assert len([warning for warning in caught if "varies costs" in str(warning.message)]) == 1


class OtherSearch(GridSearchCV):
    """Its grid is a function."""

    _parameter_constraints: ClassVar = {**GridSearchCV._parameter_constraints, "param_grid": [callable]}

    def _run_search(self, evaluate_candidates):
        evaluate_candidates(self.param_grid())


def test_a_search_with_a_grid_of_another_kind_runs(overlapping):
    model = ThresholdRejectClassifier(LogisticRegression())
    search = OtherSearch(model, lambda: [{"costs": 0.1}, {"costs": 0.2}], cv=2)
    assert search.fit(*overlapping).best_params_["costs"] == 0.1


@may_reject_all
@pytest.mark.parametrize("search_over", SEARCHES)
def test_a_search_over_prices_at_fixed_ones_is_quiet(search_over, overlapping):
    fixed = get_scorer("neg_expected_cost", costs=0.2)
    search_over([0.05, 0.4], scoring=fixed).fit(*overlapping)
    search_over([0.05, 0.4], scoring={"cost": fixed, "own": get_scorer("neg_expected_cost")}, refit="cost").fit(
        *overlapping
    )


def test_a_search_that_compares_no_prices_is_quiet(overlapping):
    X, y = overlapping
    _by_name([0.2]).fit(X, y)
    model = ThresholdRejectClassifier(ThresholdRejectClassifier(LogisticRegression()))
    GridSearchCV(model, {"estimator__costs": [0.1, 0.2]}, cv=2).fit(X, y)  # judged at the prices outside
    for costs in (0.1, 0.2):
        model.set_params(costs=costs).fit(X, y).score(X, y)
