"""LightGBM on partitions with Chow's rule around it: a model in memory that is saved and answers anywhere."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs, ThresholdRejectClassifier
from recuse.dask import ClusterError, fit_boosting_chow
from recuse.dask.boosting_chow import _plan
from recuse.dask.ranking_rows import contents_of
from recuse.dask.tables import Piece
from recuse.metrics import expected_cost

QUICK = {"settings": {"n_estimators": 30, "num_leaves": 7}}


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4))
    outcome = np.where(X[:, 0] * 2 + X[:, 1] ** 2 + random.normal(size=3000) > 1, "yes", "no")
    X[random.random(X.shape) < 0.03] = np.nan
    return pd.DataFrame(X, columns=list("abcd")).assign(outcome=outcome)


def test_a_frame_makes_a_model_that_is_saved_and_rejects(client, frame, tmp_path):
    costs = Costs(fp=1, fn=2, reject=0.3)
    parts = dd.from_pandas(frame.iloc[:2000], npartitions=3)
    model = fit_boosting_chow(parts[list("abcd")], parts["outcome"], costs=costs, **QUICK)
    assert type(model) is ThresholdRejectClassifier
    cases, truth = frame.iloc[2000:][list("abcd")], frame["outcome"].iloc[2000:]
    answers = model.predict(cases)
    assert set(answers) == {"no", "yes", "[abstain]"}
    cost = expected_cost(truth, answers, costs=costs, reject_label="[abstain]")
    answered = np.mean(truth.to_numpy() == "yes") * costs.fn
    assert cost < 0.8 * min(0.3, answered)
    recuse.save(model, tmp_path / "model.recuse")
    np.testing.assert_array_equal(recuse.load(tmp_path / "model.recuse").predict(cases), answers)
    assert model.feature_names_in_.tolist() == list("abcd")


def test_arrays_with_weights_and_empty_partitions(client, frame):
    X, y = frame[list("abcd")].to_numpy(), (frame["outcome"] == "yes").to_numpy().astype(int)
    weight = np.where(np.arange(3000) < 1500, 1.0, 0.0)
    ends = [0, 0, 1000, 1600, 3000]

    def cut(values):
        parts = [values[a:b] for a, b in pairwise(ends)]
        return da.concatenate([da.from_array(part, chunks=part.shape) for part in parts])

    model = fit_boosting_chow(cut(X), cut(y), cut(weight), costs=0.2, calibration=None, **QUICK)
    halves = (da.from_array(values[:1500], chunks=(750, *values.shape[1:])) for values in (X, y))
    only = fit_boosting_chow(*halves, costs=0.2, calibration=None, **QUICK)
    assert model.score(X[1500:], y[1500:]) == pytest.approx(only.score(X[1500:], y[1500:]), abs=0.03)
    assert model.score(X[1500:], y[1500:]) > 0.8


def test_held_out_rows_do_not_depend_on_the_partitions():
    y = np.random.default_rng(1).integers(0, 2, 500)
    piece = Piece(np.arange(500.0)[:, np.newaxis], y, np.ones(500))

    def held(ends):
        pieces = [Piece(*(None if column is None else column[a:b] for column in piece)) for a, b in pairwise(ends)]
        plans = _plan([contents_of(part) for part in pieces], np.array([0, 1]), 10_000, 0)
        out = [part.X[plan.rows(part, held_out=True), 0] for part, plan in zip(pieces, plans, strict=True)]
        kept = [part.X[plan.rows(part, held_out=False), 0] for part, plan in zip(pieces, plans, strict=True)]
        assert [len(rows) for rows in kept] == [plan.n_training for plan in plans]
        np.testing.assert_array_equal(np.sort(np.concatenate([*out, *kept])), np.arange(500.0))
        return np.concatenate(out)

    whole = held([0, 500])
    assert len(whole) == 50
    np.testing.assert_array_equal(held([0, 0, 7, 300, 300, 500]), whole)


def test_errors_are_one_sentence(client, frame):
    parts = dd.from_pandas(frame, npartitions=2)
    X, y = parts[list("abcd")], parts["outcome"]
    with pytest.raises(
        ValueError, match="settings must not hold 'tree_learner', which fit_boosting_chow settles itself"
    ):
        fit_boosting_chow(X, y, settings={"tree_learner": "voting"})
    with pytest.raises(ValueError, match="y holds one class only, 'same'"):
        fit_boosting_chow(X, y.map_partitions(lambda part: pd.Series("same", index=part.index), meta=y))
    with pytest.raises(TypeError, match="y must be a dask Series or a dask array"):
        fit_boosting_chow(X, frame["outcome"])
    with pytest.raises(ClusterError, match=r"LightGBM's fit on the cluster failed: "):
        fit_boosting_chow(X, y, settings={"num_leaves": -5})
