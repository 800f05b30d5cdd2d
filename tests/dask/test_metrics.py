"""Metrics of partitioned tables are those of the whole table, whatever the partitions."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression

import recuse
from recuse import Costs, metrics
from recuse.dask import metrics as partitioned

PRICES = Costs(fp=1, fn=5, reject=0.4)
LABELS = {"numbers": np.array([0, 1]), "text": np.array(["no", "yes"])}


@pytest.fixture(scope="module", params=LABELS)
def problem(request):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = LABELS[request.param][(X["a"] + rng.normal(size=400) > 0.5).astype(int)]
    classifier = recuse.ThresholdRejectClassifier(
        LogisticRegression(), costs=PRICES, novelty=IsolationForest(n_estimators=20, random_state=0)
    )
    return X, y, classifier.fit(X, y)


@pytest.mark.parametrize("npartitions", [1, 3, 11])
@pytest.mark.parametrize("weights", [None, "whole", "floats"])
def test_counts_are_exact(problem, npartitions, weights):
    X, y, model = problem
    rng = np.random.default_rng(1)
    sample_weight = {"whole": rng.integers(0, 4, 400), "floats": rng.random(400)}.get(weights)
    decisions = recuse.decide(model, X)
    assert decisions.counts()["novelty"] > 0
    table = X.assign(y=y) if weights is None else X.assign(y=y, w=sample_weight)
    frame = dd.from_pandas(table.sort_values("a"), npartitions=npartitions, sort=False)  # classes are lacking in some
    answers = recuse.decide(model, frame[list("abc")])
    own = {"sample_weight": None if weights is None else frame["w"]}
    whole = {"sample_weight": sample_weight}
    np.testing.assert_allclose(
        partitioned.expected_cost(frame["y"], answers, costs=PRICES, **own),
        metrics.expected_cost(y, decisions, **whole),
    )
    expected = metrics.reject_confusion_matrix(y, decisions, **whole)
    matrix = partitioned.reject_confusion_matrix(frame["y"], answers, **own)
    assert matrix.dtype == expected.dtype
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    for name in ("coverage_score", "rejection_rate", "selective_accuracy_score"):
        found = getattr(partitioned, name)(frame["y"], answers, **own)
        np.testing.assert_allclose(found, getattr(metrics, name)(y, decisions, **whole))


def test_curves_are_within_their_limits(problem):
    X, y, model = problem
    frame, decisions = dd.from_pandas(X.assign(y=y), npartitions=5), recuse.decide(model, X)
    answers = recuse.decide(model, frame[list("abc")], reasons=False)
    for costs in (None, PRICES):
        sketch = partitioned.risk_coverage_sketch(frame["y"], answers, costs=costs)
        low, high = sketch.area_bounds()
        assert low <= metrics.aurc_score(y, decisions, costs=costs) <= high
        assert high - low < 0.01 * high
        assert low <= partitioned.aurc_score(frame["y"], answers, costs=costs) <= high
        coverage, risk, _ = partitioned.risk_coverage_curve(frame["y"], answers, costs=costs)
        exact_coverage, exact_risk, _ = metrics.risk_coverage_curve(y, decisions, costs=costs)
        assert len(coverage) > 200
        where = np.searchsorted(exact_coverage, coverage - 1e-9)
        np.testing.assert_allclose(coverage, exact_coverage[where])
        np.testing.assert_allclose(risk, exact_risk[where], atol=1e-12)
    coverage, cost, _ = partitioned.cost_curve(frame["y"], answers, costs=PRICES)
    all_coverage, all_cost, _ = metrics.cost_curve(y, decisions)
    np.testing.assert_allclose(cost, all_cost[np.searchsorted(all_coverage, coverage - 1e-9)])


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2), st.floats(-1, 1)), min_size=1, max_size=30),
    chunk=st.integers(1, 12),
)
@settings(max_examples=15, deadline=None)
def test_labels_in_arrays(rows, chunk):
    truth, answer, score = (np.array(column) for column in zip(*rows, strict=True))
    own = [da.from_array(column, chunks=chunk) for column in (truth, answer, score)]
    labels = [0, 1, 2]
    found = partitioned.expected_cost(*own[:2], costs=0.3, labels=labels, reject_label=-1)
    np.testing.assert_allclose(found, metrics.expected_cost(truth, answer, costs=0.3, labels=labels, reject_label=-1))
    forced = np.maximum(answer, 0)
    sketch = partitioned.risk_coverage_sketch(own[0], da.from_array(forced, chunks=chunk), own[2], labels=labels)
    low, high = sketch.area_bounds()
    assert low - 1e-9 <= metrics.aurc_score(truth, forced, score, labels=labels) <= high + 1e-9


@pytest.mark.parametrize("npartitions", [1, 4])
def test_labels_in_a_series(problem, npartitions):
    """The column of labels means what the decisions mean; a Series of Dask has columns, too."""
    X, y, model = problem
    frame = dd.from_pandas(X.assign(y=y), npartitions=npartitions)
    answers, decisions = recuse.decide(model, frame[list("abc")]), recuse.decide(model, X)
    named = {"reject_label": decisions.reject_label}
    assert 0 < decisions.accepted.mean() < 1
    np.testing.assert_array_equal(
        partitioned.reject_confusion_matrix(frame["y"], answers["label"], **named),
        metrics.reject_confusion_matrix(y, decisions),
    )
    np.testing.assert_allclose(
        partitioned.expected_cost(frame["y"], answers["label"], costs=0.15, **named),
        metrics.expected_cost(y, decisions.label, costs=0.15, **named),
    )
    for name in ("coverage_score", "rejection_rate", "selective_accuracy_score"):
        found = getattr(partitioned, name)(frame["y"], answers["label"], **named)
        np.testing.assert_allclose(found, getattr(metrics, name)(y, decisions.label, **named))
    with pytest.raises(ValueError, match="pass reject_label= if it marks such cases"):
        partitioned.coverage_score(frame["y"], answers["label"])
    with pytest.raises(ValueError, match="score is missing"):
        partitioned.aurc_score(frame["y"], answers["forced"])
    low, high = partitioned.risk_coverage_sketch(frame["y"], answers["forced"], answers["r"], costs=0.15).area_bounds()
    assert low <= metrics.aurc_score(y, decisions.forced, decisions.r, costs=0.15) <= high


def test_novelties_among_the_outcomes():
    truth, answer = np.array([0, 1, 9, 9, 1]), np.array([0, -1, -1, 1, 1])
    own = [da.from_array(column, chunks=2) for column in (truth, answer)]
    for pos_label in (None, 0, 1):
        named = {"costs": PRICES, "reject_label": -1, "novelty_label": 9, "pos_label": pos_label}
        np.testing.assert_allclose(
            partitioned.expected_cost(*own, **named), metrics.expected_cost(truth, answer, **named)
        )


def test_metrics_on_a_cluster(client, problem):
    X, y, model = problem
    frame = dd.from_pandas(X.assign(y=y), npartitions=20)
    answers = recuse.decide(model, frame[list("abc")], reasons=False)
    found = partitioned.expected_cost(frame["y"], answers, costs=PRICES)
    np.testing.assert_allclose(found, metrics.expected_cost(y, recuse.decide(model, X)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, a: partitioned.expected_cost(t, a, costs=1), r"y_pred holds -1, not among the classes \[0, 1\]"),
        (lambda t, a: partitioned.aurc_score(t, a), "score is missing"),
        (lambda t, a: partitioned.expected_cost(t, a.rechunk(3), costs=1), "must have the same partitions; got"),
        (
            lambda t, a: partitioned.coverage_score(t, a, sample_weight=-t, reject_label=-1),
            "finite numbers of 0 or more",
        ),
        (lambda t, a: partitioned.aurc_score(t, t, t / 0.0), "score holds NaN or infinite values"),
        (
            lambda t, a: partitioned.expected_cost(t, a, costs=1, reject_label=-1, pos_label="x"),
            r"pos_label='x' must be one of the classes \[0, 1\]",
        ),
        (lambda t, a: partitioned.expected_cost(t / 0.0 * 0, a, costs=1), "y_true holds missing values"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_what_metrics_refuse(call, message):
    truth = da.from_array(np.array([0, 1, 0, 1, 1]), chunks=2)
    answers = da.from_array(np.array([0, -1, 1, 1, 0]), chunks=2)
    with pytest.raises(ValueError, match=message):
        call(truth, answers)


def test_collections_of_other_kinds_are_refused():
    frame = dd.from_pandas(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), npartitions=1)
    with pytest.raises(ValueError, match="y_pred is a table without the column 'forced'"):
        partitioned.coverage_score(frame["a"], frame)
    with pytest.raises(TypeError, match="y_true must be a dask collection of one dimension; got DataFrame"):
        partitioned.coverage_score(frame, frame["a"])
    with pytest.raises(TypeError, match="y_true must be a dask collection of one dimension; got ndarray"):
        partitioned.coverage_score(np.zeros(3), da.zeros(3))
