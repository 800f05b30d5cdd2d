"""DaskAbstentionBoostingClassifier: the same model as on one machine, however the table is partitioned."""

import threading
from dataclasses import replace

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

import recuse
from recuse import AbstentionBoostingClassifier, Costs
from recuse.boosting.abstention.data import check_cases, prepare
from recuse.boosting.abstention.search import search
from recuse.boosting.abstention.selection import held_out_means
from recuse.dask import ClusterError, DaskAbstentionBoostingClassifier, DaskExactBoostClassifier, PartitionError
from recuse.dask.folding import FoldRule, group_keys
from recuse.dask.partitions import Partitions
from tests.dask.clusters import nothing_is_left, start_process
from tests.dask.models import GIVEN, PARTITIONS, SETTINGS, N, assert_same_model, in_chunks, table


@pytest.mark.parametrize("ends", PARTITIONS.values(), ids=PARTITIONS)
def test_partitions_do_not_matter(client, ends):
    X, y, weight = table()
    settings = {**SETTINGS, **GIVEN, "family": "coupled"}
    local = AbstentionBoostingClassifier(**settings).fit(X, y, weight)
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(*in_chunks(ends, X, y, weight), client=client)
    assert_same_model(local, distributed, X)
    assert nothing_is_left(client)


def test_partitions_that_are_too_large_to_be_joined(client, monkeypatch):
    monkeypatch.setattr("recuse.dask.partitions._TOGETHER", 500)
    X, y, weight = table()
    settings = {**SETTINGS, **GIVEN, "family": "coupled"}
    local = AbstentionBoostingClassifier(**settings).fit(X, y, weight)
    rows = in_chunks(PARTITIONS["uneven and empty"], X, y, weight)
    assert_same_model(local, DaskAbstentionBoostingClassifier(**settings).fit(*rows, client=client), X)


@pytest.mark.parametrize(
    "settings",
    [
        {"family": "decoupled", "loss": "exponential"},
        {"family": "coupled", "surrogate": "max"},
        {"family": "chow", "costs": Costs(fp=1.0, fn=3.0, reject=0.3)},
        {"family": "decoupled", "costs": Costs(fp=2.0, fn=1.0, reject_negative=0.2, reject_positive=0.3)},
        {"family": "coupled", "step": "paper", "gamma": 0.25},
        {"family": "coupled", "step": "line", "monotonic_cst": [1, 0, 0, -1, 0]},
    ],
    ids=str,
)
def test_every_loss_family_step_and_price_list(client, settings):
    X, y, _ = table(1)
    order = np.argsort(y, kind="stable")  # most partitions have one class only
    X, y = X[order], y[order]
    settings = {**SETTINGS, **GIVEN, **settings}
    local = AbstentionBoostingClassifier(**settings).fit(X, y)
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(*in_chunks([300, 900], X, y), client=client)
    exact = settings.get("step") == "paper"  # no search that ends somewhere near the minimum
    assert_same_model(local, distributed, X, scores=1e-12 if exact else 1e-7)


def fold_rule(n_folds, *, single=False):
    """The folds of random_state=0."""
    return FoldRule(n_folds, single, int(check_random_state(0).randint(2**31 - 1)))


@pytest.mark.parametrize(
    "settings",
    [
        {"family": "coupled", "beta": "auto"},
        {"family": "chow", "beta": 0.0, "early_stopping": True},
        {"family": "decoupled", "stack": "start", "beta": "auto"},
        {"family": "auto", "beta": "auto"},
    ],
    ids=str,
)
def test_penalties_rounds_thresholds_and_families_are_chosen_as_on_one_machine(client, settings):
    X, y, weight = table(2, 900)
    settings = {**SETTINGS, "n_rounds": 12, **settings}
    folds = fold_rule(3).splits(np.arange(900, dtype=np.uint64))
    local = AbstentionBoostingClassifier(**settings, cv=folds).fit(X, y, weight)
    distributed = DaskAbstentionBoostingClassifier(**settings, cv=3)
    distributed.fit(*in_chunks([250, 600], X, y, weight), client=client)
    assert_same_model(local, distributed, X)
    assert distributed.beta_ == pytest.approx(local.beta_, rel=1e-9)
    assert distributed.n_iter_ == local.n_iter_
    assert distributed.threshold_ == pytest.approx(local.threshold_, abs=1e-7)
    # On a cluster no candidate is given up.
    judged = {name: distributed.held_out_costs_[name] for name in local.held_out_costs_}
    assert judged == pytest.approx(local.held_out_costs_, rel=1e-9)
    assert local.family_ == distributed.family_


def test_a_large_table_is_held_out_once_and_judged_in_halves(client, monkeypatch):
    X, y, _ = table(3, 900)
    monkeypatch.setattr("recuse.dask.training.FOLDED_ROWS", 100)
    settings = {**SETTINGS, "n_rounds": 10, "family": "auto", "beta": "auto"}
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(*in_chunks([400], X, y), client=client)
    # The same on one machine: folds, partition and halves in the order of the positives.
    rule, keys = fold_rule(5, single=True), np.arange(900, dtype=np.uint64)
    model = AbstentionBoostingClassifier(**settings, cv=rule.splits(keys))
    training = prepare(model, check_cases(model, X, y, None), with_folds=True)
    fold, part = (of[training.order] for of in rule.folds_of(keys))
    partition = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    training = replace(training, partition=partition, groups=np.where(part < 0, 0, part).astype(np.intp))
    candidates = search(training, model._settings(900), "auto", None)
    assert distributed.held_out_costs_ == pytest.approx(held_out_means(candidates, training), rel=1e-9)
    assert len(distributed.candidates_) == 3


def test_frames_text_labels_and_names(client, tmp_path):
    X, y, weight = table(4)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        outcome=np.where(y == 1, "ill", "well"), weight=weight, patient=[f"p{i // 3}" for i in range(N)]
    )
    ddf = dd.from_pandas(frame, npartitions=5)
    features = list("abcde")
    settings = {**SETTINGS, "n_rounds": 15, "family": "chow", "beta": "auto", "pos_label": "ill"}
    distributed = DaskAbstentionBoostingClassifier(**settings, cv=3)
    distributed.fit(ddf[features], ddf["outcome"], ddf["weight"], groups=ddf["patient"], client=client)
    keys = group_keys(frame["patient"])
    folds = fold_rule(3).splits(keys)
    assert all(not set(frame["patient"][a]) & set(frame["patient"][b]) for a, b in folds)
    local = AbstentionBoostingClassifier(**settings, cv=folds).fit(frame[features], frame["outcome"], frame["weight"])
    assert_same_model(local, distributed, frame[features])
    assert list(distributed.feature_names_in_) == features
    assert list(distributed.classes_) == ["ill", "well"]
    # The fitted model is that of one machine: it answers, explains, saves and loads without a cluster.
    plain = distributed.to_local()
    assert type(plain) is AbstentionBoostingClassifier
    path = tmp_path / "model.recuse"
    for model in (plain, distributed):
        recuse.save(model, path)
        again = recuse.load(path)
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(frame[features]), distributed.predict(frame[features]))
    assert clone(distributed).get_params()["cv"] == 3
    assert len(recuse.decide(distributed, frame[features][:3])) == 3


def test_two_fits_at_once(client):
    X, y, _ = table(5)
    arrays = in_chunks([500, 1000], X, y)
    settings = {**SETTINGS, **GIVEN, "family": "coupled", "n_rounds": 15}
    models = [DaskAbstentionBoostingClassifier(**{**settings, "costs": price}) for price in (0.1, 0.2)]
    threads = [threading.Thread(target=model.fit, args=arrays, kwargs={"client": client}) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in models:
        assert_same_model(AbstentionBoostingClassifier(**model.get_params()).fit(X, y), model, X)
    assert nothing_is_left(client)


# What cannot go on says so in a sentence.


def test_a_partition_with_another_schema_or_an_unreadable_file_is_named(client, tmp_path):
    X, y, _ = table(9, 300)
    for k, part in enumerate(np.array_split(np.arange(300), 3)):
        pd.DataFrame(X[part], columns=list("abcde")).assign(y=y[part]).to_parquet(tmp_path / f"part.{k}.parquet")
    model = DaskAbstentionBoostingClassifier(**SETTINGS, **GIVEN, family="chow")
    ddf = dd.read_parquet(tmp_path)
    (tmp_path / "part.1.parquet").write_bytes(b"not a table")
    with pytest.raises(PartitionError, match=r"^Partition 1 cannot be read: .*[Pp]arquet"):
        model.fit(ddf[list("abcde")], ddf["y"], client=client)

    def part(k):
        names = list("abcde") if k < 2 else list("abcdz")
        return pd.DataFrame(X[k * 100 : k * 100 + 100], columns=names)

    frames = dd.from_map(part, range(3), meta=part(0), enforce_metadata=False)
    labels = dd.from_map(lambda k: pd.Series(y[k * 100 : k * 100 + 100]), range(3), meta=pd.Series(y[:0]))
    with pytest.raises(PartitionError, match=r"^Partition 2: it lacks the columns \['e'\]"):
        model.fit(frames, labels, client=client)
    assert nothing_is_left(client)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_depth": 2}, "max_depth=2 needs all cases in one place"),
        ({"corrective": True, "family": "coupled"}, "corrective=True needs all cases in one place"),
        ({"categorical_features": [0]}, "Categories cannot be fitted on a cluster; got categorical_features=[0]"),
        ({"interactions": 2}, "interactions=2 needs all cases in one place"),
        ({"stack": "oof", "family": "coupled"}, "stack must be None or 'start' on a cluster; got 'oof'"),
        ({"stack": "start", "family": "decoupled", "cv": 2}, "stack='start' needs scores .* cv=3 folds or more"),
        ({"cv": [([0], [1])], "beta": "auto"}, "cv must be a number of folds, 2 or more, on a cluster"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(client, change, message):
    X, y, _ = table(10, 200)
    model = DaskAbstentionBoostingClassifier(**{**SETTINGS, "family": "chow", **change})
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        model.fit(*in_chunks([100], X, y), client=client)


@pytest.mark.parametrize(
    ("column", "kind"),
    [(["a", "b"] * 50, "text"), (pd.Categorical(["a", "b"] * 50), "categories"), (pd.Timestamp(2020, 1, 1), "dates")],
    ids=["text", "categories", "dates"],
)
def test_columns_without_numbers_are_refused_before_anything_is_read(column, kind):
    frame = pd.DataFrame({"a": np.arange(100.0), "other": column, "y": [0, 1] * 50})
    ddf = dd.from_pandas(frame, npartitions=2).map_partitions(_never, meta=dd.from_pandas(frame, npartitions=1)._meta)
    message = rf"^The column 'other' of X holds {kind} \(type .*\), .* X\.map_partitions\(encoder\.transform\)"
    with pytest.raises(ValueError, match=message):
        DaskAbstentionBoostingClassifier(costs=0.1).fit(ddf[["a", "other"]], ddf["y"])


def _never(part):
    raise AssertionError("nothing is to be read")


def test_labels_in_another_order_are_refused(client):
    X, y, weight = table(12, 300)
    frame = pd.DataFrame(X, columns=list("abcde"), index=[f"n{i:03d}" for i in range(300)]).assign(y=y, w=weight)
    ddf, features = dd.from_pandas(frame, npartitions=3, sort=False), list("abcde")
    shuffled = ddf.map_partitions(lambda part: part[::-1], meta=ddf._meta)
    model = DaskAbstentionBoostingClassifier(**{**SETTINGS, **GIVEN, "family": "chow", "n_rounds": 15})
    message = r"^Partition \d: its row 1 has the index 'n\d00' in X and 'n\d99' in {}: take both from the same table"
    with pytest.raises(PartitionError, match=message.format("y")):
        model.fit(ddf[features], shuffled["y"], client=client)
    with pytest.raises(PartitionError, match=message.format("sample_weight")):
        model.fit(ddf[features], ddf["y"], shuffled["w"], client=client)
    model.fit(ddf[features], ddf["y"], ddf["w"], client=client)
    model.fit(ddf[features], ddf["y"].to_dask_array(), ddf["w"], client=client)  # an array has no index


def test_arrays_of_files_that_are_read_together(client, tmp_path):
    """Dask reads more files at once where it needs few of their columns."""
    X, y, _ = table(13, 600)
    for k, part in enumerate(np.array_split(np.arange(600), 6)):
        pd.DataFrame(X[part], columns=list("abcde")).assign(y=y[part]).to_parquet(tmp_path / f"part.{k}.parquet")
    ddf, features = dd.read_parquet(tmp_path), list("abcde")
    model = DaskAbstentionBoostingClassifier(**{**SETTINGS, **GIVEN, "family": "chow", "n_rounds": 15})
    with pytest.raises(ValueError, match=r"^y has \d partitions, and X has 6: .* ddf = ddf\.persist\(\)"):
        model.fit(ddf[features].to_dask_array(), ddf["y"].to_dask_array(), client=client)
    read = client.persist(ddf)
    model.fit(read[features].to_dask_array(), read["y"].to_dask_array(), client=client)
    again = clone(model).fit(ddf[features], ddf["y"], client=client)
    np.testing.assert_array_equal(model.predict(X), again.to_local().predict(pd.DataFrame(X, columns=features)))


def test_an_address_is_no_client_and_an_unfitted_model_no_local_one():
    X, y, _ = table(14, 100)
    for model in (DaskAbstentionBoostingClassifier(costs=0.1), DaskExactBoostClassifier(costs=0.1)):
        with pytest.raises(TypeError, match=r"client must be a distributed\.Client; got str: connect first"):
            model.fit(*in_chunks([50], X, y), client="tcp://127.0.0.1:8786")
        with pytest.raises(NotFittedError):
            model.to_local()


def test_tables_in_memory_are_refused(client):
    X, y, _ = table(11, 100)
    with pytest.raises(TypeError, match="X must be a dask DataFrame or a dask array; got ndarray"):
        DaskAbstentionBoostingClassifier().fit(X, y, client=client)
    with pytest.raises(ValueError, match="y holds one class only"):
        DaskAbstentionBoostingClassifier().fit(*in_chunks([50], X, np.ones(100)), client=client)


def test_a_scheduler_that_goes_away(tmp_path):
    from distributed import Client

    X, y, _ = table(12)
    file = str(tmp_path / "scheduler.json")
    started = [start_process("scheduler", "--port", "0", "--scheduler-file", file, "--no-dashboard")]
    try:
        started.append(start_process("worker", "--scheduler-file", file, "--no-nanny", "--nthreads", "1"))
        with Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1)
            address, run, asked = client.scheduler.address, Partitions._run, []

            def run_and_kill(self, command, *args):
                asked.append(command)
                if len(asked) == 6:
                    started[0].kill()
                return run(self, command, *args)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Partitions, "_run", run_and_kill)
                model = DaskAbstentionBoostingClassifier(**SETTINGS, **GIVEN, family="chow")
                with pytest.raises(ClusterError, match=f"The Dask scheduler at {address} went away"):
                    model.fit(*in_chunks([500], X, y), client=client)
            assert not hasattr(model, "classes_")
    finally:
        for process in started:
            process.kill()
            process.wait()
