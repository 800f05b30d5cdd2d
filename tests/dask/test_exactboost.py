"""ExactBoost on partitions: the model of one machine, whatever the partitions, and after the loss of a worker."""

import tracemalloc
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs, ExactBoostClassifier
from recuse.boosting.binning import code_features, find_cuts
from recuse.boosting.exactboost.data import positives_first
from recuse.boosting.exactboost.objectives import Terms, find_objective
from recuse.boosting.exactboost.problem import RankingProblem, RunSettings
from recuse.boosting.exactboost.runs import boost_run
from recuse.dask import ClusterError, DaskExactBoostClassifier, PartitionError
from recuse.dask.drawing import ClassSizes
from recuse.dask.ranking_runs import CodedRows, RowDraws, RunTask, boost_drawn, run_bytes, take_run
from tests.processes import wait_until

N = 600
QUICK = {"n_estimators": 6, "n_rounds": 8, "random_state": 0}
METRICS = [
    {"metric": "auc"},
    {"metric": "ks", "margin": 0.05},
    {"metric": "precision_at_k", "k": 60},
    {"metric": "reject_cost", "costs": Costs(fp=1, fn=3, reject=0.2)},
    {"metric": "auc", "monotonic_cst": [-1, 1, 0, 0, 0]},
    {"metric": "auc", "costs": 0.3, "pos_label": 0, "n_iter_no_change": 3},
]
PARTITIONS = {
    "one": [N],
    "two": [300, 300],
    "seven": [86, 86, 86, 86, 86, 85, 85],
    "uneven and empty": [1, 0, 590, 0, 9],
}


@pytest.fixture(scope="module")
def table():
    """Cases with ties, missing values and weights; the first 90 are all of one class."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 5))
    X[:, 1] = random.integers(0, 4, N)
    y = (X[:, 0] + 0.5 * X[:, 1] + random.normal(size=N) > 0.8).astype(int)
    order = np.concatenate([np.flatnonzero(y == 0)[:90], np.flatnonzero(y == 1), np.flatnonzero(y == 0)[90:]])
    X, y = X[order], y[order]
    X[random.random((N, 5)) < 0.05] = np.nan
    return X, y, random.integers(0, 4, N).astype(float)


def rows(array, sizes):
    """A dask array in partitions of these sizes, empty ones among them."""
    ends = np.cumsum([0, *sizes])
    parts = [array[a:b] for a, b in pairwise(ends)]
    return da.concatenate([da.from_array(part, chunks=part.shape) for part in parts], allow_unknown_chunksizes=True)


def same_model(one, other, X):
    assert one.stumps_ == other.stumps_
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.thresholds_, other.thresholds_, rtol=1e-9)
    assert one.objective_ == pytest.approx(other.objective_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("sizes", PARTITIONS.values(), ids=PARTITIONS)
def test_same_model_whatever_the_partitions(client, table, sizes):
    X, y, weight = table
    one = ExactBoostClassifier(metric="reject_cost", costs=0.2, **QUICK).fit(X, y, weight)
    many = DaskExactBoostClassifier(metric="reject_cost", costs=0.2, **QUICK)
    many.fit(rows(X, sizes), rows(y, sizes), rows(weight, sizes))
    same_model(one, many, X)


@pytest.mark.parametrize("parameters", METRICS, ids=str)
def test_same_model_for_every_metric(client, table, parameters):
    X, y, _ = table
    one = ExactBoostClassifier(**parameters, **QUICK).fit(X, y)
    many = DaskExactBoostClassifier(**parameters, **QUICK).fit(rows(X, [200] * 3), rows(y, [200] * 3))
    same_model(one, many, X)


def test_same_model_of_a_frame_with_names_text_labels_and_initial_scores(client, table):
    X, y, _ = table
    names = ["no", "yes"]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(outcome=np.array(names)[y], score=np.sin(np.arange(N)))
    parts = dd.from_pandas(frame, npartitions=4)
    model = DaskExactBoostClassifier(metric="ks", costs=0.3, **QUICK)
    model.fit(parts[list("abcde")], parts["outcome"], init_score=parts["score"])
    one = ExactBoostClassifier(metric="ks", costs=0.3, **QUICK)
    one.fit(frame[list("abcde")], frame["outcome"], init_score=frame["score"])
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.stumps_ == one.stumps_
    cases = frame[list("abcde")], frame["score"]
    np.testing.assert_allclose(model.decision_function(*cases), one.decision_function(*cases))
    assert set(model.predict(*cases)) <= {"no", "yes"}


def test_a_fit_goes_on_where_the_last_one_ended(client, table):
    X, y, _ = table
    cases = rows(X, [300] * 2), rows(y, [300] * 2)
    warm = DaskExactBoostClassifier(warm_start=True, **{**QUICK, "n_estimators": 2}).fit(*cases)
    first = warm.stumps_
    warm.set_params(n_estimators=6).fit(*cases)
    assert warm.stumps_[: len(first)] == first
    assert warm.stumps_ == DaskExactBoostClassifier(**QUICK).fit(*cases).stumps_


# Tables of more than run_cases rows: each run draws its own.


@pytest.mark.parametrize("parameters", [METRICS[0], METRICS[3]], ids=["auc", "reject_cost"])
def test_drawn_rows_do_not_depend_on_the_partitions(client, table, parameters):
    X, y, weight = table
    models = [
        DaskExactBoostClassifier(run_cases=200, **parameters, **QUICK).fit(
            rows(X, sizes), rows(y, sizes), rows(weight, sizes)
        )
        for sizes in PARTITIONS.values()
    ]
    for model in models[1:]:
        same_model(models[0], model, X)


def test_a_run_works_on_its_own_rows_and_on_no_others(client, table):
    X, y, _ = table
    model = DaskExactBoostClassifier(metric="reject_cost", costs=0.2, run_cases=200, **QUICK)
    model.fit(rows(X, PARTITIONS["seven"]), rows(y, PARTITIONS["seven"]))
    order, n_pos = positives_first(y == 1, np.ones(N))
    sizes = ClassSizes(n_pos, N - n_pos)
    draws = RowDraws.plan(sizes, 200, held_out=True)._replace(seed=model._seed)
    settings = RunSettings(n_rounds=8, hold_out=True)
    cuts = [find_cuts(X[:, f], 64) for f in range(5)]
    for e, run in enumerate(model._runs):
        mine = np.concatenate([draws.run(e, 0), draws.run(e, 1) + n_pos])
        assert len(mine) == 200
        bins = code_features(X, order[mine], cuts)
        problem = RankingProblem(
            bins, len(draws.run(e, 0)), np.ones(200), np.zeros(200, np.int32), find_objective("reject_cost"),
            Terms(Costs(fp=1, fn=1, reject=0.2)),
        )  # fmt: skip
        expected, _ = boost_run(problem, settings, model._seed, e, np.arange(200), np.zeros(0, dtype=int))
        np.testing.assert_array_equal(run.stumps, expected.stumps)
        assert (run.low, run.high) == (expected.low, expected.high)


def test_held_out_scores_are_of_runs_that_have_not_seen_the_case():
    random = np.random.default_rng(1)
    sizes = ClassSizes(300, 700)
    codes = random.integers(0, 4, (3, sizes.total)).astype(np.uint8)
    draws = RowDraws.plan(sizes, 200, held_out=True)
    cuts = [np.array([0.5, 1.5, 2.5])] * 3
    task = RunTask(
        cuts,
        np.zeros(3, dtype=bool),
        np.zeros(3, dtype=np.int8),
        "auc",
        Terms(Costs(fp=1, fn=1, reject=0.2)),
        RunSettings(n_rounds=5),
        draws,
    )
    whole = CodedRows(codes, 300)
    needed = whole.take(draws.needed(4, 0), draws.needed(4, 1))
    run, at, score = boost_drawn(task, 4, needed)
    panel = np.concatenate([draws.panel(0), draws.panel(1) + 300])
    seen = np.concatenate([draws.run(4, 0), draws.run(4, 1) + 300])
    np.testing.assert_array_equal(panel[at], np.setdiff1d(panel, seen))
    value = np.zeros(sizes.total)
    for f, cut, shift, _ in run.stumps:
        value += shift * (codes[f] > cut)
    np.testing.assert_allclose(score, (value[panel[at]] - run.low) * run.scale)


@pytest.mark.parametrize("held_out", [False, True])
def test_memory_of_a_run_is_within_its_bound(held_out):
    random = np.random.default_rng(1)
    sizes, p = ClassSizes(30_000, 70_000), 12
    draws = RowDraws.plan(sizes, 40_000, held_out=held_out)
    parts = []
    for k in range(10):
        first = ClassSizes(3_000 * k, 7_000 * k)
        rows = CodedRows(random.integers(0, 64, (p, 10_000)).astype(np.uint8), 3_000, random.random(10_000) + 0.5)
        parts.append(take_run(rows, first, draws, 0))
    task = RunTask(
        [np.arange(63.0)] * p, np.zeros(p, dtype=bool), np.zeros(p, dtype=np.int8), "auc",
        Terms(Costs(fp=1, fn=1, reject=0.2)), RunSettings(n_rounds=2, hold_out=held_out), draws,
    )  # fmt: skip
    boost_drawn(task, 0, *parts)  # compiled code is no part of it
    arrived = sum(part.nbytes for part in parts)
    tracemalloc.start()
    boost_drawn(task, 0, *parts)
    used = tracemalloc.get_traced_memory()[1] + arrived
    tracemalloc.stop()
    bound = run_bytes(draws, p, 1, 0.2)
    assert used <= bound + 2**20  # tables of scores, which do not grow with the rows
    assert bound <= 2 * used


# Faults.


def read(k, change):
    if k == 2 and change == "unreadable":
        raise OSError("Parquet magic bytes not found in footer.")
    changed = {
        "text": lambda frame: frame.assign(income=["a", "b", "c"]),
        "infinite": lambda frame: frame.assign(income=[1.0, np.inf, 2.0]),
        "lacks": lambda frame: frame.drop(columns="income"),
        "more": lambda frame: frame.assign(height=1.0),
        "unknown": lambda frame: frame.assign(outcome=[0.0, 1.0, np.nan]),
        "one class": lambda frame: frame.assign(outcome=1),
        "no rows": lambda frame: frame.iloc[:0],
        "missing": lambda frame: frame.assign(income=np.nan),
    }
    frame = pd.DataFrame({"age": [30.0, 40.0, np.nan], "income": [1.0, 2.0, 3.0], "outcome": [0, 1, 0]})
    everywhere = ("one class", "no rows", "missing")
    return changed[change](frame) if change in everywhere or (k == 2 and change in changed) else frame


def labels_of(frame):
    return frame["outcome"]


def features_of(frame):
    return frame.drop(columns="outcome")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("unreadable", r"Partition 2 cannot be read: OSError: Parquet magic bytes not found in footer\."),
        ("text", r"Partition 2: The column 'income' holds 'a', and DaskExactBoostClassifier needs numbers: encode it"),
        ("infinite", r"Partition 2: The column 'income' holds an infinite number: put a missing value"),
        ("lacks", r"Partition 2: it lacks the columns \['income'\]: give all files one schema\."),
        ("more", r"Partition 2: it has the columns \['height'\], which the others do not have: give all files"),
        ("unknown", r"Partition 2: y holds missing values \(NaN, NA or None\): every case needs a known outcome\."),
        ("one class", r"^y holds one class only, 1: a classifier needs cases of two classes\."),
        ("no rows", r"^The table has no rows: every partition is empty\."),
        ("missing", r"^Every value is missing in the columns \['income'\]: leave them out\."),
    ],
)
def test_errors_name_the_partition_in_one_sentence(client, change, message):
    read_piece = dask.delayed(read, pure=True)
    pieces = [read_piece(k, change) for k in range(4)]
    meta = pd.DataFrame({"age": [1.0], "income": [1.0]})
    X = dd.from_delayed([dask.delayed(features_of)(piece) for piece in pieces], meta=meta, verify_meta=False)
    y = dd.from_delayed([dask.delayed(labels_of)(piece) for piece in pieces], meta=("outcome", int), verify_meta=False)
    with pytest.raises(ValueError, match=message):
        DaskExactBoostClassifier(**QUICK).fit(X, y)


def test_other_input_is_refused(client, table):
    X, y, _ = table
    model = DaskExactBoostClassifier(**QUICK)
    with pytest.raises(TypeError, match="X must be a dask DataFrame or a dask array; got ndarray"):
        model.fit(X, y)
    with pytest.raises(TypeError, match="y must be a dask Series or a dask array, partitioned as X is; got ndarray"):
        model.fit(rows(X, [N]), y)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    with pytest.raises(ValueError, match="y has 2 partitions, and X has 3: take both from the same table"):
        model.fit(frame, dd.from_pandas(pd.Series(y), npartitions=2))
    with pytest.raises(PartitionError, match=r"Partition [01]: it has 200 rows in X and [13]00 in y"):
        model.fit(frame, rows(y, [100, 300, 200]))
    column = dd.from_pandas(pd.Series(y), npartitions=3)
    backwards = column.map_partitions(lambda part: part[::-1].astype(float), meta=("score", float))
    with pytest.raises(PartitionError, match=r"Partition \d: its row 1 has the index \d+ in X and \d+ in init_score"):
        model.fit(frame, column, init_score=backwards)
    with pytest.raises(ValueError, match="sample_weight is zero for every case"):
        model.fit(rows(X, [200] * 3), rows(y, [200] * 3), rows(np.zeros(N), [200] * 3))
    named = dd.from_pandas(pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 300)}), npartitions=3)
    with pytest.raises(ValueError, match=r"The column 'kind' of X holds categories .* encode it partition"):
        model.fit(named, rows(y, [200] * 3))
    with pytest.raises(ValueError, match="run_cases must be 10 or more; got 3"):
        model.set_params(run_cases=3).fit(frame, rows(y, [200] * 3))


def test_runs_that_do_not_fit_into_memory_are_refused(client, table, monkeypatch):
    X, y, _ = table
    small = {"workers": {"tcp://here": {"memory_limit": 40_000, "nthreads": 2}}}
    monkeypatch.setattr(type(client), "scheduler_info", lambda self, n_workers=5: small)
    with pytest.raises(ClusterError, match=r"A run of ExactBoost on 600 cases needs .* lower run_cases, use fewer"):
        DaskExactBoostClassifier(**QUICK).fit(rows(X, [300] * 2), rows(y, [300] * 2))


def test_the_model_is_saved_as_one_that_knows_nothing_of_dask(client, table, tmp_path):
    X, y, _ = table
    model = DaskExactBoostClassifier(metric="reject_cost", run_cases=200, **QUICK)
    local = model.fit(rows(X, [300] * 2), rows(y, [300] * 2)).to_local()
    assert type(local) is ExactBoostClassifier
    recuse.save(local, tmp_path / "model.recuse")
    np.testing.assert_array_equal(recuse.load(tmp_path / "model.recuse").predict(X), model.predict(X))
    assert local.get_params()["metric"] == "reject_cost"


def test_nothing_is_left_on_the_workers(client, table):
    X, y, _ = table
    DaskExactBoostClassifier(**QUICK).fit(rows(X, [300] * 2), rows(y, [300] * 2))
    assert wait_until(lambda: not any("exactboost" in key for keys in client.has_what().values() for key in keys))
