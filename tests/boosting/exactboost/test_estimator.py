"""ExactBoostClassifier: what a fit promises, whatever the metric."""

import pickle
import re

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

import recuse
from recuse import Costs, ExactBoostClassifier, ThresholdRejectClassifier
from recuse.boosting.exactboost import estimator
from recuse.boosting.exactboost.data import code_cases, prepare
from recuse.boosting.exactboost.histogram import ScoreHistogram
from recuse.boosting.exactboost.mean import MeanScore
from recuse.boosting.exactboost.objectives import OBJECTIVES, Terms, of_roc
from recuse.boosting.exactboost.runs import boost_runs
from recuse.boosting.shapes import ShapeFunction
from recuse.metrics import expected_cost, ks_score, precision_at_k_score

METRICS = list(OBJECTIVES)


@pytest.fixture(scope="module")
def data():
    return make_classification(
        n_samples=300, n_features=5, n_informative=3, n_redundant=0, class_sep=0.8, flip_y=0.1, random_state=1
    )


def make(metric="auc", **options):
    return ExactBoostClassifier(metric=metric, **({"n_estimators": 8, "n_rounds": 20, "random_state": 0} | options))


def test_without_a_margin_the_loss_is_the_metric(data):
    """The default: ties alone tell the loss on the training cases from 1 - AUC."""
    X, y = data
    model = make().fit(X, y)
    assert model.margin == 0
    assert model.objective_ == pytest.approx(1 - roc_auc_score(y, model.decision_function(X)), abs=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_objective_never_gets_worse_and_learning_happens(data, metric):
    model = make(metric).fit(*data)
    losses = model.history_["objective"]
    assert losses.shape == (8, 21)
    assert (np.diff(losses, axis=1) <= 1e-12).all()
    gain = losses[:, 0] - losses[:, -1]
    # Where a run starts from the score of another, that may leave nothing to gain.
    assert gain.mean() > 0 if OBJECTIVES[metric].after else (gain > 0).all()
    assert model.history_["accepted"].tolist() == [sum(stump.run == e for stump in model.stumps_) for e in range(8)]


@pytest.mark.parametrize("metric", METRICS)
def test_one_row_alone_and_in_a_batch_threads_and_pickles(data, metric):
    X, y = data
    model = make(metric).fit(X, y)
    h, r = model.decision_function(X), model.score_samples(X)
    alone = np.array([model.decision_function(X[i : i + 1])[0] for i in range(20)])
    np.testing.assert_array_equal(alone, h[:20])
    for other in (make(metric, n_jobs=2).fit(X, y), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), h)
        np.testing.assert_array_equal(other.score_samples(X), r)
    again = model.fit(X, y)  # a second fit starts afresh
    np.testing.assert_array_equal(again.decision_function(X), h)


@pytest.mark.parametrize("pos_label", [1, 0])
@pytest.mark.parametrize("metric", METRICS)
def test_the_mean_of_the_runs_is_the_additive_form(data, metric, pos_label):
    """Stumps added up one by one, rescaled run by run, give the score of the shape functions."""
    X, y = data
    X = X.copy()
    X[::7, 1] = np.nan
    model = make(metric, pos_label=pos_label).fit(X, y)
    total = np.zeros(len(X))
    for e in range(8):
        score = np.zeros(len(X))
        for stump in model.stumps_:
            if stump.run == e:
                column = X[:, stump.feature]
                right = np.where(np.isnan(column), not stump.missing_left, column > stump.cut)
                score += stump.shift * right
        total += score
    h = model.decision_function(X)
    gap = h - total / 8
    assert np.ptp(gap) < 1e-12
    assert np.allclose(model.weights_ * 8, [stump.shift for stump in model.stumps_])
    assert np.allclose(sum(shape.evaluate(X[:, shape.feature])[0] for shape in model.shape_functions_), h - h.mean())


def test_better_than_chance_on_each_metric(data):
    X, y = data
    train, test = slice(0, 200), slice(200, 300)
    scores = {m: make(m, n_estimators=30).fit(X[train], y[train]).decision_function(X[test]) for m in METRICS}
    assert roc_auc_score(y[test], scores["auc"]) > 0.8
    assert ks_score(y[test], scores["ks"]) > 0.5
    assert precision_at_k_score(y[test], scores["precision_at_k"], k=20) > y[test].mean() + 0.15


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_precision_at_k_is_better_at_the_top_than_auc(share):
    """From a constant score it stuck at the tail of a feature or two, far below a model for AUC."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(0.5, 1000), rng.normal(size=(1000, 5))])
    z = 2 * (X[:, :4] @ [0.8, 1.0, 0.8, 0.6] - 2.5)
    y = (rng.random(1000) < 1 / (1 + np.exp(-z))).astype(int)
    options = {"n_estimators": 20, "n_rounds": 50, "subsample": share, "max_features": share}
    models = [make("precision_at_k", k=50, **options).fit(X, y), make("auc", **options).fit(X, y)]
    top, all_pairs = (precision_at_k_score(y, model.decision_function(X), k=50) for model in models)
    assert top > all_pairs
    # Its runs are those for AUC, and then some.
    for e in range(20):
        own, first = ([stump[1:3] for stump in model.stumps_ if stump.run == e] for model in models)
        assert own[: len(first)] == first


def test_from_initial_scores_precision_at_k_is_boosted_at_once(data):
    X, y = data
    model = make("precision_at_k", k=30, n_rounds=1).fit(X, y, init_score=X[:, 0])
    assert model.history_["accepted"].max() == 1


def test_prices_follow_the_positive_class(data):
    X, y = data
    costs = Costs(fp=1, fn=2, reject=0.3)
    model = make("reject_cost", costs=costs, n_estimators=20).fit(X, y)
    turned = make("reject_cost", costs=costs, pos_label=0, n_estimators=20).fit(X, 1 - y)
    np.testing.assert_array_equal(turned.decision_function(X), -model.decision_function(X))
    np.testing.assert_array_equal(turned.score_samples(X), model.score_samples(X))
    answers = model.predict(X)
    cost = expected_cost(y, answers, costs=costs, reject_label=-1)
    others = [expected_cost(y, np.full(len(y), answer), costs=costs, reject_label=-1) for answer in (0, 1, -1)]
    assert cost < min(others)
    assert set(answers.tolist()) == {0, 1, -1}
    h, (low, high) = model.decision_function(X), model.thresholds_
    assert low <= model.threshold_ <= high
    rejected = answers == -1
    assert ((h[~rejected] > 0) == (answers[~rejected] == 1)).all()
    forced = model.set_params(on_reject="never").predict(X)
    assert (forced[~rejected] == answers[~rejected]).all()


def test_thresholds_are_chosen_on_held_out_cases():
    """Pure noise: in the bag the score seems to tell the classes apart, out of the bag it does not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), np.arange(200) % 2
    model = make("reject_cost", costs=0.4, n_estimators=40, n_rounds=50, margin=0.0).fit(X, y)
    assert model.objective_ < 0.35  # in the bag
    assert (model.predict(X) == -1).mean() > 0.5


@pytest.mark.parametrize("answer", [0, 1])
def test_an_answer_that_never_pays_is_never_given(answer):
    """Out of the bag it paid nowhere; nor may it for a new case, however far its score lies from those seen."""
    X, y = np.random.default_rng(1).normal(size=(100, 100)), np.arange(100) % 2
    costs = Costs(fp=1, fn=1e6, reject=0.3) if answer == 0 else Costs(fp=1e6, fn=1, reject=0.3)
    # With a margin the best of all values is further from the cases than any threshold must be.
    model = make(costs=costs, margin=0.05, n_estimators=5, n_rounds=200).fit(X, y)
    assert answer not in model.predict(X)
    far = np.zeros((1, 100))
    for shape in model.shape_functions_:  # the best value of every feature for that answer
        values = np.append(shape.cuts, shape.cuts[-1] + 1)
        far[0, shape.feature] = values[np.argmin(shape.h if answer == 0 else -shape.h)]
    seen, beyond = model.decision_function(X), model.decision_function(far)[0]
    assert (seen.min() - beyond if answer == 0 else beyond - seen.max()) > 1.0
    assert model.predict(far) != answer


@pytest.mark.parametrize("metric", ["reject_cost", "auc"])
def test_thresholds_are_those_of_least_cost_on_the_mean_of_the_runs_that_did_not_see_a_case(data, metric):
    X, y = data
    weight = np.random.default_rng(0).uniform(1, 3, len(y))
    costs = Costs(fp=1, fn=2, reject_negative=0.2, reject_positive=0.4)
    model = make(metric, costs=costs, n_estimators=12).fit(X, y, sample_weight=weight)
    problem = prepare(model, X, y, weight, None, None, hold_out=model._has_prices).problem
    scores = [[] for _ in y]
    for _, out, score in boost_runs(problem, model._settings(), model._seed, range(12)):
        for i, s in zip(out, score, strict=True):
            scores[i].append(s)
    assert {len(s) for s in scores} == {2, 3}
    histogram = ScoreHistogram.of(np.array([np.mean(s) for s in scores]), problem.positive, problem.weight)
    tried = [-np.inf, *((histogram.values[1:] + histogram.values[:-1]) / 2), np.inf]
    P, N = (np.append(0, np.cumsum(w)) for w in (histogram.pos, histogram.neg))
    cost = {
        (a, b): 2 * P[i] + 0.4 * (P[j] - P[i]) + 0.2 * (N[j] - N[i]) + N[-1] - N[j]
        for i, a in enumerate(tried)
        for j, b in enumerate(tried[i:], i)
        if metric == "reject_cost" or a == b
    }
    assert cost[model.thresholds_] == pytest.approx(min(cost.values()))
    single = {a: 2 * P[i] + N[-1] - N[i] for i, a in enumerate(tried)}
    inside = [a for a in tried if model.thresholds_[0] <= a <= model.thresholds_[1]]
    assert single[model.threshold_] == pytest.approx(min(single[a] for a in inside))


def test_without_prices_the_threshold_is_at_the_largest_weighted_gap(data):
    X, y = data
    for seed in range(4):
        weight = np.random.default_rng(seed).exponential(size=len(y)) ** 2 + 0.01
        model = make(n_estimators=3).fit(X, y, sample_weight=weight)
        answers, score = model.predict(X), model.decision_function(X)
        rates = [np.average(answers[y == c], weights=weight[y == c]) for c in (1, 0)]
        assert rates[0] - rates[1] == pytest.approx(ks_score(y, score, sample_weight=weight))


def test_shape_functions_are_centred_and_unseen_missing_values_add_nothing(data):
    X, y = data
    weight = np.where(X[:, 0] > 0, 5.0, 1.0)
    model = make().fit(X, y, sample_weight=weight)
    for shape in model.shape_functions_:
        assert np.average(shape.evaluate(X[:, shape.feature])[0], weights=weight) == pytest.approx(0.0, abs=1e-12)
        assert shape.missing == (0.0, 0.0)


def test_large_data_is_cut_at_quantiles_of_some_rows():
    x = np.sort(np.random.default_rng(0).normal(size=45_000)) ** 3
    bins = code_cases(x[:, None], np.arange(45_000), 64, np.ones(45_000))
    share = np.bincount(bins.codes[0]) / 45_000 * 64
    assert len(share) == 64
    assert 0.9 < share.min() <= share.max() < 1.1


def test_more_pairs_than_32_bits_can_count():
    """Of 50,000 positives and as many negatives every pair is tied at first; one stump parts them all."""
    x = np.arange(100_000.0)
    model = make(n_estimators=1, n_rounds=1, subsample=1.0, max_features=1.0).fit(x[:, None], (x >= 50_000).astype(int))
    assert model.history_["accepted"].tolist() == [1]
    assert model.history_["objective"][0].tolist() == [1.0, pytest.approx(0.0, abs=0.04)]


def test_the_reach_of_the_score():
    shapes = [
        ShapeFunction(0, np.zeros(1), np.array([1.0, -2.0]), np.zeros(2), (-3.0, 0.0)),
        ShapeFunction(1, np.zeros(1), np.array([0.5, 0.25]), np.zeros(2), (0.75, 0.0)),
    ]
    assert MeanScore(10.0, shapes, per_start=1.0, mean_start=0.0).reach(4.0) == (10 - 3 + 0.25, 10 + 1 + 0.75 + 4)


def test_costs_choose_the_threshold_of_a_ranking_metric(data):
    X, y = data
    dear = make("auc", costs=Costs(fp=1, fn=10, reject=0.1)).fit(X, y).predict(X)
    cheap = make("auc", costs=Costs(fp=10, fn=1, reject=0.1)).fit(X, y).predict(X)
    assert dear.mean() > cheap.mean() + 0.2
    plain = make("auc").fit(X, y)
    score = plain.decision_function(X)
    rate = [(score > 0)[y == c].mean() for c in (1, 0)]
    assert rate[0] - rate[1] == pytest.approx(ks_score(y, score))
    assert set(plain.predict(X).tolist()) == {0, 1}


def test_weights_repeat_cases_when_all_are_looked_at(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    every = {"subsample": 1.0, "max_features": 1.0, "n_estimators": 2, "max_bins": None}
    for metric in METRICS:
        k = 40 if metric == "precision_at_k" else None
        one = make(metric, k=k, **every).fit(X, y, sample_weight=weight)
        two = make(metric, k=k, **every).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        if OBJECTIVES[metric].rejects:  # runs keep cases out, and copies of a case may be kept out apart
            continue
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-12)
        scaled = make(metric, k=k if k is None else 3.1 * k, **every).fit(X, y, sample_weight=3.1 * weight)
        np.testing.assert_allclose(scaled.decision_function(X), one.decision_function(X), atol=1e-12)


def test_features_may_be_stretched(data):
    X, y = data
    one = make("ks").fit(X, y)
    two = make("ks").fit(np.exp(X), y)
    np.testing.assert_array_equal(one.predict(X), two.predict(np.exp(X)))


def test_warm_start_adds_runs(data):
    X, y = data
    for metric in ("auc", "reject_cost"):
        grown = make(metric, warm_start=True, n_estimators=3).fit(X, y)
        grown.set_params(n_estimators=8).fit(X, y)
        np.testing.assert_array_equal(grown.decision_function(X), make(metric).fit(X, y).decision_function(X))
        assert grown.n_iter_ == 8
        with pytest.raises(ValueError, match="n_estimators=2 must be at least the 8 runs"):
            grown.set_params(n_estimators=2).fit(X, y)
        grown.set_params(n_estimators=9)
        others = [
            (X[:200], y[:200]),
            (X[::-1], y[::-1]),
            (2 * X, y),
            (X, 1 - y),
            (X, y, 1.0 + y),
            (X, y, None, X[:, 0]),
        ]
        for cases in others:
            with pytest.raises(ValueError, match="but the cases differ from it"):
                grown.fit(*cases)
        given = {"margin": 0.1, "subsample": 0.3, "metric": "ks", "max_bins": 8, "costs": 0.15, "n_rounds": 5}
        for name, value in given.items():
            changed = pickle.loads(pickle.dumps(grown)).set_params(**{name: value})
            with pytest.raises(ValueError, match=f"but {name}={value!r} differs from it"):
                changed.fit(X, y)
        assert (
            grown.set_params(random_state=7).fit(X, y).n_iter_ == 9
        )  # nothing was spoilt; the seed is the first fit's
    turned = make("reject_cost", warm_start=True).fit(X, y)
    answers = turned.predict(X)
    with pytest.raises(ValueError, match="but pos_label=0 differs from it"):
        turned.set_params(pos_label=0, n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(turned.predict(X), answers)  # what was fitted is still there
    cold = make().fit(X, y).set_params(warm_start=True, n_estimators=2)
    assert cold.fit(X[:100], y[:100]).n_iter_ == 2  # nothing was kept to go on with


def test_warm_start_after_an_interrupted_fit(data, monkeypatch):
    X, y = data
    model = make("reject_cost", warm_start=True)

    def interrupted(*args):
        yield next(boost_runs(*args))
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator, "boost_runs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    monkeypatch.setattr(estimator, "boost_runs", boost_runs)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), make("reject_cost").fit(X, y).predict(X))
    # A later fit that is interrupted leaves the model as it was.
    monkeypatch.setattr(estimator, "boost_runs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=12).fit(X, y)
    assert (model.n_iter_, len(model.history_["accepted"])) == (8, 8)
    assert {stump.run for stump in model.stumps_} <= set(range(8))
    monkeypatch.setattr(estimator, "boost_runs", boost_runs)
    more = make("reject_cost", n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), more.predict(X))


@pytest.mark.parametrize("metric", ["auc", "ks", "precision_at_k"])
def test_weights_do_what_copies_do_at_any_number_of_bins(data, metric):
    X, y = data
    times = np.random.default_rng(0).integers(1, 4, len(y))
    whole = {"subsample": 1.0, "max_features": 1.0, "max_bins": 8}
    weighted = make(metric, **whole).fit(X, y, sample_weight=times)
    copied = make(metric, **whole).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-12)


def test_early_stop_of_a_run(data):
    X, y = data
    full = make(n_rounds=60).fit(X, y)
    short = make(n_rounds=60, n_iter_no_change=3).fit(X, y)
    assert short.history_["accepted"].sum() < full.history_["accepted"].sum()
    stopped = short.history_["objective"]
    for trace in stopped:  # the same as the long run up to where it stops
        flat = np.flatnonzero(np.diff(trace) < 0).max(initial=-1) + 1
        assert (trace[flat:] == trace[flat]).all()


def test_missing_values_have_their_own_branch():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    missing = rng.random(400) < 0.3
    y = np.where(missing, 1, (x > 0.5) ^ (rng.random(400) < 0.1)).astype(int)
    X = np.where(missing, np.nan, x)[:, None]
    model = make(max_features=1.0).fit(X, y)
    at = model.decision_function([[np.nan], [-2.0], [2.0]])
    assert at[0] > at[1]
    assert at[2] > at[1]
    assert roc_auc_score(y, model.decision_function(X)) > 0.9
    unseen = make().fit(x[:, None], y)
    assert np.isfinite(unseen.decision_function([[np.nan]])).all()


def test_initial_scores(data):
    X, y = data
    start = LogisticRegression().fit(X, y).decision_function(X)
    model = make(n_estimators=20).fit(X, y, init_score=start)
    score = model.decision_function(X, init_score=start)
    assert roc_auc_score(y, score) > roc_auc_score(y, start)
    np.testing.assert_allclose(model.decision_function(X[:3], init_score=start[:3]), score[:3])
    assert (model.predict(X, init_score=start) == (score > 0)).all()
    with pytest.raises(ValueError, match=r"fitted with init_score: .* predict\(X, init_score=scores\)"):
        model.predict(X)
    assert 0.3 < np.ptp(score) <= 1  # a mean of runs, each within [0, 1]
    turned = make(n_estimators=20, pos_label=0).fit(X, y, init_score=start)  # scores still rise towards classes_[1]
    assert roc_auc_score(y, turned.decision_function(X, init_score=start)) > roc_auc_score(y, start)
    np.testing.assert_allclose(
        turned.margin_losses(X, y, [turned.margin], init_score=start), turned.objective_, atol=0.02
    )
    rejecting = make("reject_cost", costs=0.2).fit(X, y, init_score=start)
    answers, decisions = rejecting.predict(X, start), rejecting.decide(X, start)
    assert set(answers.tolist()) == {-1, 0, 1}
    np.testing.assert_array_equal(decisions.label, answers)
    assert all("lies between" in reason for reason in decisions[decisions.rejected].reason)
    with pytest.raises(ValueError, match="was not given to fit"):
        make().fit(X, y).decision_function(X, init_score=start)
    with pytest.raises(ValueError, match="300 finite numbers"):
        make().fit(X, y, init_score=start[:5])


def test_an_objective_of_ones_own(data):
    X, y = data[0][:80], data[1][:80]

    def top_quarter(fpr, tpr):
        return 1 - float(np.interp(0.25, fpr, tpr))

    quick = {"n_estimators": 2, "n_rounds": 6, "subsample": 0.5, "max_bins": 8}
    model = make(of_roc(top_quarter), **quick).fit(X, y)
    losses = model.history_["objective"]
    assert (np.diff(losses, axis=1) <= 0).all()
    assert (losses[:, -1] < losses[:, 0]).all()
    same = make(of_roc(top_quarter), **quick).fit(X, y, sample_weight=np.full(80, 0.3))  # equal weights say nothing
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="sample_weight does not go with a metric of your own"):
        make(of_roc(top_quarter), **quick).fit(X, y, sample_weight=np.arange(80.0))


def test_interpreted_run_minimises_the_same_objective(data):
    """The auc written as a user would write it, through the slow loop: about as good as the compiled search."""
    X, y = data[0][:100], data[1][:100]

    def auc(positives, negatives):
        return 1 - np.searchsorted(negatives, positives).mean() / len(negatives)

    quick = {"n_estimators": 3, "n_rounds": 10, "subsample": 0.5, "max_bins": 8}
    slow, fast = (make(metric, **quick).fit(X, y).history_["objective"][:, -1].mean() for metric in (auc, "auc"))
    assert slow == pytest.approx(fast, abs=0.05)


def test_objective_of_the_mean_score(data):
    X, y = data
    for metric in METRICS:
        model = make(metric, margin=0.1).fit(X, y)
        score = model.decision_function(X)
        terms = Terms(model.costs_, float(y.sum()))
        histogram = ScoreHistogram.of(score, y == 1, margin=0.1 * np.ptp(score))
        assert model.objective_ == pytest.approx(OBJECTIVES[metric].loss(histogram, terms), abs=0.02)


@pytest.mark.parametrize("metric", METRICS)
def test_losses_by_margin(data, metric):
    X, y = data
    k = 40 if metric == "precision_at_k" else None
    model = make(metric, k=k, margin=0.1).fit(X, y)
    np.testing.assert_allclose(model.margin_losses(X, y, [0.1]), model.objective_, atol=5e-3)
    if k is not None:  # half the cases, half of k; no two scores that matter are equal
        half = model.margin_losses(X[::2], y[::2], [0.0])[0]
        histogram = ScoreHistogram.of(model.decision_function(X[::2]), y[::2] == 1)
        assert half == OBJECTIVES[metric].loss(histogram, Terms(model.costs_, 20.0))


def test_under_other_estimators(data):
    X, y = data
    inner = make()
    tuned = ThresholdRejectClassifier(inner, costs=0.2, rule="tuned", cv=3).fit(X, y)
    assert -1 in tuned.predict(X)
    calibrated = CalibratedClassifierCV(inner, cv=3).fit(X, y)
    assert roc_auc_score(y, calibrated.predict_proba(X)[:, 1]) > 0.8
    chow = ThresholdRejectClassifier(calibrated, costs=0.2).fit(X, y)
    assert -1 in chow.predict(X)


def test_as_an_ensembler(data):
    X, y = data
    stack = StackingClassifier([("bayes", GaussianNB()), ("logistic", LogisticRegression())], make())
    stack.fit(X, y)
    assert roc_auc_score(y, stack.decision_function(X)) > 0.85
    assert set(stack.predict(X).tolist()) == {0, 1}


def test_decisions_have_reasons_and_models_are_saved(data, tmp_path):
    X, y = data
    model = make("reject_cost", costs=0.2).fit(X, np.where(y == 1, "yes", "no"))
    decisions = recuse.decide(model, X)
    assert set(decisions.kind) == {"accept", "ambiguity"}
    for decision in decisions[:40]:
        assert ("lies between" in decision.reason) == (decision.label == "[abstain]")
    turned = make("reject_cost", costs=Costs(fp=2, fn=1, reject=0.3), pos_label=0).fit(X, y)
    for decision in recuse.decide(turned, X):
        if decision.kind == "ambiguity":
            low, high = re.search(r"towards 0 lies between (\S+) and ([^;:]+)", decision.reason).groups()
            assert float(low) - 1e-3 <= -decision.h <= float(high) + 1e-3
    recuse.save(model, tmp_path / "model.skops")
    loaded = recuse.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert len(loaded.stumps_) == len(model.stumps_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, "metric must be one of 'auc', 'ks'"),
        ({"metric": 3}, "got 3"),
        ({"margin": -0.1}, "margin must be a finite number at least 0; got -0.1"),
        ({"margin": float("inf")}, "margin"),
        ({"margin": 1.0}, "margin must be less than 1, the whole range of the score; got 1.0"),
        ({"margin": 1e9}, "margin must be less than 1"),
        (
            {"metric": lambda positives, negatives: np.nan},
            "metric must return the loss, a finite number; it returned nan",
        ),
        ({"metric": lambda positives, negatives: None}, "it returned None"),
        ({"subsample": 0.0}, "subsample must be a number in"),
        ({"subsample": 0.001}, "leaves no case of the class 1, which has 153: use subsample=0.0065"),
        ({"max_features": 1.5}, "max_features"),
        ({"metric": "precision_at_k", "k": 0}, "k must be between 1 and the number of cases, 300; got 0"),
        ({"metric": "precision_at_k", "k": 301}, "got 301"),
        ({"n_estimators": 0}, "n_estimators must be 1 or more"),
        ({"search": "guess"}, "search must be one of"),
        ({"warm_start": "yes"}, "warm_start must be True or False"),
        ({"metric": "reject_cost", "costs": 0.6}, "Rejecting never pays"),
        ({"metric": abs, "search": "bisection"}, "by trial"),
    ],
)
def test_bad_parameters(data, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(**options).fit(*data)


def test_bad_cases(data):
    X, y = data
    with pytest.raises(ValueError, match="one class only"):
        make().fit(X, np.ones(len(y)))
    infinite = X.copy()
    infinite[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        make().fit(infinite, y)
    lost = X.copy()
    lost[:, 2] = np.nan
    with pytest.raises(ValueError, match="Every value is missing"):
        make().fit(lost, y)
    first = X.copy()
    first[0] = np.nan  # the published code loops for ever
    assert np.isfinite(make().fit(first, y).decision_function(first)).all()
    with pytest.warns(ConvergenceWarning, match="No stump improves metric='auc'"):
        constant = make().fit(np.ones((20, 2)), np.arange(20) % 2)
    assert len(constant.stumps_) == 0
    assert np.isfinite(constant.decision_function(np.ones((2, 2)))).all()
    with pytest.raises(ValueError, match=r"k=5 belongs to metric='precision_at_k'"):
        make(k=5).fit(X, y)
    for bad in (np.nan, None, "0.5"):
        with pytest.raises(ValueError, match=r"must return the loss, a finite number; it returned"):
            make(lambda positives, negatives, bad=bad: bad).fit(X, y)


@pytest.mark.parametrize("pos_label", ["default", "paid"])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_a_score_that_tells_nothing_gives_the_cheaper_answer(share, pos_label):
    y = np.where(np.arange(100) < 100 * share, "default", "paid")
    X = np.zeros((100, 1))
    more = "default" if share > 0.5 else "paid"
    with pytest.warns(ConvergenceWarning, match="every case gets the same score"):
        decision = make(pos_label=pos_label).fit(X, y).decide(X[:1])[0]
    assert decision.label == more
    assert f"towards {pos_label!r} is {'above' if pos_label == more else 'not above'} 0" in decision.reason
    dear = Costs(fp=1, fn=10, reject=0.5) if pos_label == "default" else Costs(fp=10, fn=1, reject=0.5)
    with pytest.warns(ConvergenceWarning):
        priced = make(pos_label=pos_label, costs=dear).fit(X, y)
    assert priced.predict(X[:1])[0] == "default"  # missing one costs ten times a false alarm


def test_the_initial_score_is_named_in_the_reasons(data):
    X, y = data
    start = np.linspace(-1, 1, len(y)) + y
    model = make(costs=0.2).fit(X, y, init_score=start)
    low, middle, high = (model.decide(X[:1], init_score=[z])[0].reason for z in (-50.0, start.mean(), 50.0))
    added = [float(re.search(r"; the initial score adds (\S+)$", said).group(1)) for said in (low, middle, high)]
    assert added[0] < 0 < added[2]
    assert abs(added[1]) < 0.01 * added[2]


@pytest.mark.parametrize("pos_label", [0, 1])
def test_reasons_tell_the_score_from_the_positive_side(data, pos_label):
    X, y = data
    model = make("reject_cost", costs=0.2, pos_label=pos_label).fit(X, y)
    seen = set()
    for decision in model.decide(X, reasons="all"):
        score = decision.h if pos_label == 1 else -decision.h
        lower, upper = np.array(model.thresholds_) - model.threshold_
        assert decision.reason.startswith(f"score {score:.3g} towards {pos_label} ")
        if decision.accepted:
            said = f"is above {upper:.3g}" if decision.label == pos_label else f"is not above {lower:.3g}"
        else:
            said = f"lies between {lower:.3g} and {upper:.3g}"
        assert said in decision.reason
        assert re.search(r": x\d = \S+.* speaks? for [01]$", decision.reason)
        seen.add(decision.kind)
    assert seen == {"accept", "ambiguity"}


def test_objectives_of_the_roc_curve_are_pickled():
    objective = of_roc(_area_above)
    assert repr(objective) == f"of_roc({__name__}._area_above)"  # no address: the same after a model is loaded
    again = pickle.loads(pickle.dumps(objective))
    positives, negatives = np.array([0.2, 0.8]), np.array([0.1, 0.5])
    assert again(positives, negatives) == objective(positives, negatives) == pytest.approx(0.25)


def _area_above(fpr, tpr):
    return 1 - np.trapezoid(tpr, fpr)


def test_numbers_that_cannot_be_used_are_refused(data):
    X, y = data
    for search in ("exact", "bisection"):  # sums of such weights are no numbers, which bisection would chase for ever
        with pytest.raises(ValueError, match="sample_weight goes from 1e-300 to 1e\\+300"):
            make(search=search).fit(X, y, sample_weight=np.append(np.full(299, 1e300), 1e-300))
    heavy = make("precision_at_k").fit(X, y, sample_weight=np.full(300, 1e307))
    np.testing.assert_array_equal(heavy.decision_function(X), make("precision_at_k").fit(X, y).decision_function(X))
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        make().fit(X, y, sample_weight=["a"] * 300)
    for start, message in (
        (["a"] * 300, "init_score must hold 300 finite numbers; got"),
        (np.append(np.zeros(299), np.inf), "it holds NaN or infinity"),
        (np.append(np.full(299, -1e308), 1e308), "too wide to be rescaled"),
    ):
        with pytest.raises(ValueError, match=message):
            make().fit(X, y, init_score=start)
    for margins in (0.1, "ab", [-0.1], [np.nan], [[0.1]]):
        with pytest.raises(ValueError, match="margins must be a list of numbers"):
            heavy.margin_losses(X, y, margins)
    with pytest.raises(NotFittedError):
        make().margin_losses(X, y, [0.1])
    with pytest.raises(ValueError, match=r"0 cases of class 1 with a positive weight: at least one is needed"):
        make().fit(X, y, sample_weight=1.0 - y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        heavy.margin_losses(X, y[:4], [0.1])
    with pytest.raises(ValueError, match=r"1 case of class 1 .* at least 2"):
        make("reject_cost", subsample=1.0).fit(X[:10], [1, *[0] * 9])


def test_bisection_fits_too(data):
    X, y = data
    model, exact = (make(search=search).fit(X, y) for search in ("bisection", "exact"))
    assert roc_auc_score(y, model.decision_function(X)) > 0.7
    assert exact.history_["objective"][:, -1].mean() < model.history_["objective"][:, -1].mean()
