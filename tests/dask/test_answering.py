"""Answers on dask are those of one machine: lazily for frames and arrays, and into folders, however they are cut."""

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import recuse
from recuse import AbstentionBoostingClassifier, ThresholdRejectClassifier
from recuse.answering import Answered, staging
from recuse.comparison import fit
from recuse.dask import DaskAbstentionBoostingClassifier, decisions_meta
from recuse.predicting import predict_table
from recuse.tables import TableFile
from tests.comparison.conftest import COSTS, mixed_table
from tests.processes import wait_until

# dask's own code, with pandas 3.1.
pytestmark = pytest.mark.filterwarnings(r"ignore:The inplace keyword:DeprecationWarning:dask\.")
TEXT = ("decision", "kind", "forced", "reason")


@pytest.fixture(scope="module")
def model():
    return fit(mixed_table(), "default", method="logistic-chow", positive="bad", costs=COSTS)


@pytest.fixture(scope="module")
def table():
    return mixed_table(300, seed=5)


def write_parts(folder, table, cuts):
    """Write a table as a folder of files that end at these rows."""
    folder.mkdir()
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(table)], strict=True)):
        table.iloc[start:end].to_parquet(folder / f"part.{number}.parquet")
    return folder


def one_machine(model, table, path, capacity):
    """The answers to the whole table in one file."""
    table.to_parquet(path / "whole.parquet")
    answered = predict_table(model, path / "whole.parquet", path / "whole.csv", capacity=capacity)
    return answered, pd.read_csv(path / "whole.csv")


def assert_same_answers(found, expected):
    assert found["case"].tolist() == expected["case"].tolist()
    for name in TEXT:
        assert found[name].tolist() == expected[name].tolist()
    for name in ("h", "r"):
        # One in the sixth digit; and skrub's encoder of text computes in float32, whose last digits depend on the rows.
        np.testing.assert_allclose(found[name], expected[name], rtol=3e-6, atol=1e-6)
    if "review" in expected:
        np.testing.assert_array_equal(found["review"].to_numpy(float, na_value=np.nan), expected["review"])


@pytest.mark.parametrize("cuts", [[], [150], [10, 11, 11, 200, 299, 300]])
@pytest.mark.parametrize("capacity", [None, 0, 7, 10_000])
def test_a_folder_is_answered_as_one_file(model, table, tmp_path, cuts, capacity):
    expected, answers = one_machine(model, table, tmp_path, capacity)
    folder, seen = write_parts(tmp_path / "parts", table, cuts), []
    found = predict_table(model, folder, tmp_path / "out", capacity=capacity, rows_at_once=40, progress=seen.append)
    assert found == expected
    assert seen[-1] == 300
    assert len(list((tmp_path / "out").glob("*.parquet"))) == len(cuts) + 1
    assert not list(tmp_path.glob(".*"))
    read = dd.read_parquet(tmp_path / "out").compute() if capacity else pd.read_parquet(tmp_path / "out")
    assert_same_answers(read.sort_values("case"), answers)


def test_ties_are_resolved_in_the_order_of_the_table(tmp_path):
    # All of the last are alike but for one, which is less uncertain: there is an order.
    X = np.array([[-1.0], [1.0]] * 20 + [[0.0]] * 59 + [[0.05]])
    y = np.array([0, 1] * 20 + [0, 1] * 30)
    frame = pd.DataFrame(X, columns=["x"])
    model = ThresholdRejectClassifier(LogisticRegression(C=100), costs=0.2).fit(frame, y)
    expected = None
    for number, cuts in enumerate([[], [50, 75], [41, 42, 43, 99]]):
        folder = write_parts(tmp_path / f"cut{number}", frame, cuts)
        predict_table(model, folder, tmp_path / f"out{number}", capacity=25)
        review = pd.read_parquet(tmp_path / f"out{number}").sort_values("case")["review"].to_numpy(float)
        expected = review if expected is None else expected
        np.testing.assert_array_equal(review, expected)
    np.testing.assert_array_equal(expected[40:65], np.arange(1, 26))


def test_folders_that_name_columns(model, table, tmp_path):
    """A column in the names of folders is a column of the table; the answers have the same folders."""
    name = "town"
    assert name in table.columns
    pieces = []
    for value, part in table.groupby(name, sort=True):
        folder = tmp_path / "parts" / f"{name}={value}"
        folder.mkdir(parents=True)
        part.drop(columns=name).to_parquet(folder / "part.0.parquet")
        pieces.append(part)
    whole = pd.concat(pieces).reset_index(drop=True)
    expected, answers = one_machine(model, whole, tmp_path, 9)
    assert predict_table(model, tmp_path / "parts", tmp_path / "out", capacity=9) == expected
    read = pd.read_parquet(tmp_path / "out").sort_values("case")
    assert_same_answers(read, answers)
    assert read[name].astype(str).tolist() == whole[name].tolist()


def test_a_whole_table_can_be_read_from_a_folder(model, table, tmp_path):
    folder = write_parts(tmp_path / "parts", mixed_table(), [100])
    fitted = fit(folder, "default", method="logistic-chow", positive="bad", costs=COSTS)
    assert recuse.decide(fitted, table) == recuse.decide(model, table)
    answered = predict_table(model, write_parts(tmp_path / "new", table, [7]), tmp_path / "out.csv")
    assert answered.cases == len(pd.read_csv(tmp_path / "out.csv")) == 300


@pytest.mark.parametrize(("options", "first"), [({}, 1.234), ({"decimal": ","}, 1.234), ({"decimal": "."}, 1234.0)])
def test_numbers_in_a_folder_are_read_as_the_options_say(tmp_path, options, first):
    """Text such as 1,234 means what --decimal says, as in one file."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=200).round(3)
    outcome = np.where(numbers + random.normal(size=200) > 0, "yes", "no")
    written = [f"{number:.3f}".replace(".", ",") for number in numbers]
    pd.DataFrame({"a": written, "ill": outcome}).to_csv(tmp_path / "old.csv", index=False, sep=";")
    model = fit(tmp_path / "old.csv", "ill", 0.1, method="logistic-chow", positive="yes")
    folder = write_parts(tmp_path / "new", pd.DataFrame({"a": ["1,234", "2,500"]}), [1])
    predict_table(model, TableFile(folder, **options), tmp_path / "out")
    h = pd.read_parquet(tmp_path / "out")["h"].to_numpy()
    plain = pd.DataFrame({"a": [first]})
    np.testing.assert_allclose(h[0], recuse.decide(model, plain).h[0], rtol=1e-5)


# Lazy answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array(["no", "yes"]), np.array([2.0, 1.0])])
@pytest.mark.parametrize("reasons", [True, False])
def test_decide_is_lazy_and_its_meta_is_right(labels, reasons):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"), index=pd.Index(range(5, 95), name="id"))
    y = labels[(X["a"] + rng.normal(size=90) > 0).astype(int)]
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, y)
    expected = recuse.decide(model, X, reasons=reasons).to_pandas()
    frame = dd.from_pandas(X, npartitions=4)
    found = recuse.decide(model, frame, reasons=reasons)
    assert isinstance(found, dd.DataFrame)
    pd.testing.assert_frame_equal(found._meta, expected.iloc[:0])
    pd.testing.assert_frame_equal(found.compute(), expected)
    assert found.divisions == frame.divisions
    # Every partition has the types of the meta, those without rows too.
    parts = recuse.decide(model, frame[frame["a"] > 1.5]).to_delayed()
    assert min(len(part.compute()) for part in parts) < 2
    for part in [*parts, *recuse.decide(model, frame[frame["a"] > 99]).to_delayed()]:
        pd.testing.assert_series_equal(part.compute().dtypes, expected.dtypes)


def test_decisions_chain():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=list("ab"))
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, (X["a"] > 0).astype(int))
    frame = dd.from_pandas(X, npartitions=3)
    whole = recuse.decide(model, X)
    counts = recuse.decide(model, frame).groupby("kind").size().compute()
    assert counts.to_dict() == {kind: n for kind, n in whole.counts().items() if n}
    own = frame.map_partitions(lambda part: recuse.decide(model, part).to_pandas(), meta=decisions_meta(model))
    assert own["accepted"].sum().compute() == whole.accepted.sum()
    both = frame.assign(r=recuse.decide(model, frame)["r"])
    np.testing.assert_allclose(both["r"].compute(), whole.r)


@pytest.mark.parametrize("chunks", [(20, 3), (13, 2), (60, 3)])
def test_decide_takes_dask_arrays(chunks):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, (X[:, 0] > 0).astype(int))
    found = recuse.decide(model, da.from_array(X, chunks=chunks)).compute()
    expected = recuse.decide(model, X).to_pandas()
    pd.testing.assert_frame_equal(found, expected, check_index_type=False)


def test_what_decide_refuses_at_once(model):
    with pytest.raises(TypeError, match="dask array of two dimensions"):
        recuse.decide(model, da.zeros(5))
    with pytest.raises(TypeError, match="no reject option"):
        recuse.decide(LogisticRegression().fit([[0], [1]], [0, 1]), da.zeros((5, 1)))


@pytest.fixture(scope="module")
def plain():
    """A model that was fitted to a frame of numbers, and a table with further columns in another order."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    model.fit(X, (X["a"] - X["b"] + rng.normal(size=90) > 0).astype(int))
    return model, X, X[list("cab")].assign(note="text")


def test_columns_are_found_by_their_names(plain):
    model, X, table = plain
    expected = recuse.decide(model, X).to_pandas()
    pd.testing.assert_frame_equal(recuse.decide(model, dd.from_pandas(table, npartitions=4)).compute(), expected)


@pytest.mark.parametrize("kind", ["folder", "file", "dask"])
def test_further_columns_and_another_order_do_not_matter_in_tables(plain, tmp_path, kind):
    model, X, table = plain
    data = {
        "folder": lambda: write_parts(tmp_path / "parts", table, [40]),
        "file": lambda: write_parts(tmp_path / "parts", table, []) / "part.0.parquet",
        "dask": lambda: dd.from_pandas(table, npartitions=4),
    }[kind]()
    out = tmp_path / ("out.parquet" if kind == "file" else "out")
    assert predict_table(model, data, out).cases == 90
    expected = recuse.decide(model, X)
    found = pd.read_parquet(out)
    assert found["kind"].tolist() == expected.kind.tolist()
    np.testing.assert_allclose(found["h"], expected.h, rtol=1e-5)


def test_equal_scores_are_no_order(plain, tmp_path):
    """In a folder as in one file: where not all can be reviewed, no case has a place."""
    _, _, table = plain
    known, costs = table.assign(y=np.resize(["a", "b"], len(table))), recuse.Costs(1, 1, 0.01)
    run = recuse.compare(known, "y", positive="b", costs=costs, cv=2, repeats=1, methods=["logistic-chow"])
    model = run.model("send-all")
    folder = write_parts(tmp_path / "parts", table, [40])
    with pytest.warns(UserWarning, match=r"no order among the 90 rejected cases .* the column review is empty"):
        answered = predict_table(model, folder, tmp_path / "out", capacity=7)
    assert not answered.ordered
    assert pd.read_parquet(tmp_path / "out")["review"].isna().all()
    assert predict_table(model, folder, tmp_path / "all", capacity=90).ordered
    assert pd.read_parquet(tmp_path / "all")["review"].tolist() == list(range(1, 91))


def test_a_lacking_column_is_named_before_anything_is_computed(plain, tmp_path):
    model, _, table = plain
    lacking = table.drop(columns=["a", "b"])
    message = r"lacks the columns 'a' and 'b' that the model was fitted with; it has \['c', 'note'\]: add"
    with pytest.raises(ValueError, match=f"^The table {message}"):
        recuse.decide(model, dd.from_pandas(lacking, npartitions=2))
    with pytest.raises(ValueError, match=f"^The table {message}"):
        predict_table(model, dd.from_pandas(lacking, npartitions=2), tmp_path / "out")
    folder = write_parts(tmp_path / "parts", table, [40])
    lacking.to_parquet(folder / "part.1.parquet")
    with pytest.raises(ValueError, match=rf"^part\.1\.parquet: The table {message}"):
        predict_table(model, folder, tmp_path / "out")
    assert not list(tmp_path.glob(".out*"))
    with pytest.raises(TypeError, match="data must be a dask DataFrame"):
        predict_table(model, da.zeros((4, 3)), tmp_path / "out")


def test_what_a_column_transformer_drops_need_not_be_there(tmp_path):
    X = pd.DataFrame({"a": np.arange(40.0), "note": "text"})
    chosen = ColumnTransformer([("a", "passthrough", ["a"])])
    for model in (
        make_pipeline(chosen, ThresholdRejectClassifier(LogisticRegression(), costs=0.2)),
        ThresholdRejectClassifier(make_pipeline(chosen, LogisticRegression()), costs=0.2),
    ):
        model.fit(X, np.repeat([0, 1], 20))
        found = recuse.decide(model, dd.from_pandas(X[["a"]], npartitions=2)).compute()
        assert found["label"].tolist() == recuse.decide(model, X).label.tolist()


@pytest.mark.parametrize("method", ["predict", "decide", "decision_function", "score_samples", "predict_proba"])
def test_classifiers_do_not_collect_a_dask_table(plain, method):
    """scikit-learn would turn it into an array, whose columns have no names."""
    threshold, X, _ = plain
    truth = (threshold.predict(X) == 1).astype(int)
    boosted = DaskAbstentionBoostingClassifier()
    local = AbstentionBoostingClassifier(costs=0.2, family="chow", beta=0.01, n_rounds=5).fit(X, truth)
    boosted.__dict__.update(local.__dict__)
    for model in (threshold, boosted):
        for collection in (dd.from_pandas(X[list("cab")], npartitions=2), da.from_array(X.to_numpy())):
            with pytest.raises(TypeError, match=r"X is a dask (DataFrame|Array), and .* recuse\.decide\(model, X\)"):
                getattr(model, method)(collection)
            with pytest.raises(TypeError, match=r"recuse\.dask\.metrics measures"):
                model.score(collection, truth)


def test_a_dask_frame_is_answered_into_a_folder(model, table, tmp_path):
    table = table.set_index(pd.Index([f"n{i:03d}" for i in range(300)], name="number"))
    frame = dd.from_pandas(table, npartitions=5)
    answered = predict_table(model, frame, tmp_path / "out", capacity=11)
    expected, answers = one_machine(model, table, tmp_path, 11)
    assert answered == expected
    read = dd.read_parquet(tmp_path / "out").compute()
    assert read.index.tolist() == table.index.tolist()
    assert read.index.name == "number"
    assert_same_answers(read.assign(case=range(1, 301)), answers)


# Interruptions --------------------------------------------------------------------------------------------------------


def test_an_interrupted_run_is_continued(model, table, tmp_path, monkeypatch):
    folder, done = write_parts(tmp_path / "parts", table, [60, 120, 180, 240]), []

    def stop(cases):
        done.append(cases)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_table(model, folder, tmp_path / "out", capacity=7, progress=stop)
    assert not (tmp_path / "out").exists()
    assert len(list((tmp_path / ".out.answering").glob("*/answers/[!.]*"))) == 2
    seen = []
    found = predict_table(model, folder, tmp_path / "out", capacity=7, progress=seen.append)
    assert len(seen) == 3  # the parts that lacked
    expected, answers = one_machine(model, table, tmp_path, 7)
    assert found == expected
    assert_same_answers(pd.read_parquet(tmp_path / "out"), answers)
    assert not (tmp_path / ".out.answering").exists()
    # Once more: everything is there.
    assert predict_table(model, folder, tmp_path / "out", capacity=7, progress=seen.append) == expected
    assert len(seen) == 3


def test_what_was_prepared_for_another_table_is_not_used(model, table, tmp_path):
    folder = write_parts(tmp_path / "parts", table, [150])

    def stop(cases):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_table(model, folder, tmp_path / "out", progress=stop)
    table.iloc[:140].to_parquet(folder / "part.0.parquet")
    assert predict_table(model, folder, tmp_path / "out").cases == 290


def test_what_is_written_late_for_another_request_is_not_published(tmp_path):
    """A task that cannot be stopped may write after another run has begun."""
    first, second = staging.Stage(tmp_path / "out", "a" * 64, 3), staging.Stage(tmp_path / "out", "b" * 64, 3)
    with first.opened():
        pass
    with second.opened():
        assert not first.answers.exists()
        (second.answers / "part.0.parquet").write_text("second")
        first.answers.mkdir(parents=True)
        (first.answers / "part.0.parquet").write_text("first")
        second.publish(second.answers, Answered(1, 0, 0))
    assert (tmp_path / "out" / "part.0.parquet").read_text() == "second"
    assert not list(tmp_path.glob(".*"))
    # Places in the queue are those of one capacity.
    assert staging.Stage(tmp_path / "out", "a" * 64, 4).answers == first.answers
    assert staging.Stage(tmp_path / "out", "a" * 64, 4)._ranked != first._ranked


def test_other_contents_are_replaced_only_when_asked(model, table, tmp_path):
    folder = write_parts(tmp_path / "parts", table, [150])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds other files: give another folder, or replace it with --overwrite"):
        predict_table(model, folder, tmp_path / "out")
    predict_table(model, folder, tmp_path / "out", overwrite=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        staging.MARKER,
        "part.0.parquet",
        "part.1.parquet",
    ]
    with pytest.raises(FileExistsError, match="holds answers of another model, table or capacity"):
        predict_table(model, write_parts(tmp_path / "others", table, [50]), tmp_path / "out")


def test_a_replaced_folder_is_never_lost(model, table, tmp_path, monkeypatch):
    """A run that ends between the two renames leaves the old answers, and the next run finds them."""
    folder, rename, renamed = write_parts(tmp_path / "parts", table, [150]), os.rename, []
    predict_table(model, folder, tmp_path / "out", capacity=3)

    def stop_at_second(source, target):
        renamed.append(target)
        if len(renamed) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(staging.os, "rename", stop_at_second)
    with pytest.raises(KeyboardInterrupt):
        predict_table(model, folder, tmp_path / "out", capacity=5, overwrite=True)
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    assert len(pd.read_parquet(tmp_path / ".out.replaced")) == 300
    with pytest.raises(FileExistsError, match="holds answers of another"):  # the old folder is back
        predict_table(model, folder, tmp_path / "out", capacity=5)
    assert pd.read_parquet(tmp_path / "out")["review"].max() == 3
    predict_table(model, folder, tmp_path / "out", capacity=5, overwrite=True)
    assert pd.read_parquet(tmp_path / "out")["review"].max() == 5
    assert not list(tmp_path.glob(".*"))


def test_two_runs_to_one_folder(model, table, tmp_path):
    folder = write_parts(tmp_path / "parts", table, [150])

    def another(cases):
        with pytest.raises(OSError, match="is being written by another run"):
            predict_table(model, folder, tmp_path / "out")

    assert predict_table(model, folder, tmp_path / "out", progress=another).cases == 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "part.1.parquet").write_bytes(b"no"), r"part.1.parquet cannot be read as parquet"),
        (lambda folder: (folder / "part.1.parquet").write_bytes(b""), r"part.1.parquet .* it is empty"),
        (
            lambda folder: (
                pd.read_parquet(folder / "part.1.parquet").drop(columns="score").to_parquet(folder / "part.1.parquet")
            ),
            r"part.1.parquet: The table lacks the column 'score'",
        ),
        (
            lambda folder: (
                pd.read_parquet(folder / "part.1.parquet").assign(score="n/k").to_parquet(folder / "part.1.parquet")
            ),
            r"part.1.parquet: The column 'score' holds 'n/k' in row 101,",
        ),
    ],
)
def test_a_bad_file_is_named(model, table, tmp_path, change, message):
    folder = write_parts(tmp_path / "parts", table, [100, 200])
    change(folder)
    with pytest.raises(ValueError, match=message):
        predict_table(model, folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_folders_that_cannot_be_answered(model, table, tmp_path):
    folder = write_parts(tmp_path / "parts", table, [100])
    (tmp_path / "none").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError, match="is a folder without Parquet files"):
        predict_table(model, tmp_path / "none", tmp_path / "out")
    with pytest.raises(NotADirectoryError, match="is a file: answers to a folder go to a folder"):
        predict_table(model, folder, tmp_path / "file")
    with pytest.raises(ValueError, match="within each other"):
        predict_table(model, folder, folder / "out")
    with pytest.raises(FileNotFoundError, match=r"create .*nowhere first"):
        predict_table(model, folder, tmp_path / "nowhere" / "out")
    with pytest.raises(ValueError, match="holds no rows"):
        predict_table(model, write_parts(tmp_path / "empty", table[:0], []), tmp_path / "out")
    with pytest.raises(ValueError, match=r"out='a.csv' is no folder"):
        predict_table(model, dd.from_pandas(table, npartitions=2), "a.csv")


# On a cluster ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [None, 7])
def test_a_cluster_answers_as_one_process(client, model, table, tmp_path, capacity):
    folder = write_parts(tmp_path / "parts", table, [60, 60, 120, 180, 240])
    expected, answers = one_machine(model, table, tmp_path, capacity)
    assert predict_table(model, folder, tmp_path / "out", capacity=capacity, cluster=client) == expected
    assert_same_answers(pd.read_parquet(tmp_path / "out"), answers)
    frame = dd.read_parquet(folder)
    assert predict_table(model, frame, tmp_path / "of_frame", capacity=capacity) == expected
    read = pd.concat(
        pd.read_parquet(tmp_path / "of_frame" / f"part.{number}.parquet") for number in range(frame.npartitions)
    )
    assert_same_answers(read.assign(case=range(1, 301)), answers)
    assert wait_until(lambda: not any(client.run(lambda dask_worker: len(dask_worker.data)).values()))


class _Slow(LogisticRegression):
    """A classifier that tells where it is, and waits until it may go on."""

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def predict_proba(self, X):
        folder = Path(self.folder)
        (folder / str(os.getpid())).touch()
        wait_until((folder / "go").exists)
        return super().predict_proba(X)


class _SlowLater(LogisticRegression):
    """A classifier that answers whichever part is first at once; of the others it tells, and waits for leave."""

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def predict_proba(self, X):
        folder, part = Path(self.folder), str(int(np.asarray(X)[0, 1]))
        with suppress(FileExistsError):
            (folder / "first").symlink_to(part)  # made with its contents at once, by one worker
        if os.readlink(folder / "first") != part:
            (folder / part).touch()
            wait_until((folder / "go").exists)
        return super().predict_proba(X)


def tasks_left(dask_scheduler):
    """Those that answer frames, and calls such as those that answer files."""
    return [key for key in map(str, dask_scheduler.tasks) if "answer_frame" in key or "_alone_in_process" in key]


def threads_at_work(dask_worker):
    return len(dask_worker.active_threads)


@pytest.mark.parametrize("of_frame", [True, False])
def test_nothing_goes_on_for_a_run_that_was_interrupted(client, tmp_path, of_frame):
    """Its tasks are cancelled, and another model's answers to the same folder are its own."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=500), "part": np.repeat(np.arange(5.0), 100)})
    data = write_parts(tmp_path / "parts", X, [100, 200, 300, 400])
    if of_frame:
        data = dd.from_pandas(X, npartitions=5)
    marks = tmp_path / "marks"
    marks.mkdir()
    (marks / "go").touch()
    slow = ThresholdRejectClassifier(_SlowLater(str(marks)), costs=0.3).fit(X, (X["a"] < 0).astype(int))
    other = ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, (X["a"] > 0).astype(int))
    for mark in marks.iterdir():
        mark.unlink()

    def stop(cases):
        assert wait_until(lambda: any(marks.glob("[0-9]")))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_table(slow, data, tmp_path / "out", cluster=client, progress=stop)
    assert wait_until(lambda: not client.run_on_scheduler(tasks_left))
    (marks / "go").touch()
    assert wait_until(lambda: not any(client.run(threads_at_work).values()))
    assert len(list(marks.glob("[0-9]"))) <= 2  # what two workers had begun
    predict_table(other, data, tmp_path / "out", cluster=client)
    predict_table(other, data, tmp_path / "alone", cluster=client)
    for number in range(5):
        name = f"part.{number}.parquet"
        pd.testing.assert_frame_equal(
            pd.read_parquet(tmp_path / "out" / name), pd.read_parquet(tmp_path / "alone" / name)
        )


def test_an_error_on_the_client_that_is_active_is_the_frames_own(client, model, table, tmp_path):
    frame = dd.from_pandas(table.assign(score="old"), npartitions=4)  # found by the worker that reads it
    with pytest.raises(ValueError, match=r"part\.\d\.parquet: The column 'score' holds 'old'"):
        predict_table(model, frame, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert wait_until(lambda: not client.run_on_scheduler(tasks_left))


def test_a_killed_worker_costs_time_only(client, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=list("ab"))
    (tmp_path / "marks").mkdir()
    (tmp_path / "marks" / "go").touch()
    model = ThresholdRejectClassifier(_Slow(str(tmp_path / "marks")), costs=0.2).fit(X, (X["a"] > 0).astype(int))
    expected = predict_table(model, write_parts(tmp_path / "parts", X, [50, 100, 150]), tmp_path / "one", capacity=4)
    for mark in (tmp_path / "marks").iterdir():
        mark.unlink()
    found = []
    thread = threading.Thread(
        target=lambda: found.append(
            predict_table(model, tmp_path / "parts", tmp_path / "out", capacity=4, cluster=client)
        )
    )
    thread.start()
    assert wait_until(lambda: any((tmp_path / "marks").iterdir()))
    os.kill(int(next((tmp_path / "marks").iterdir()).name), signal.SIGKILL)
    (tmp_path / "marks" / "go").touch()
    thread.join()
    assert found == [expected]
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), pd.read_parquet(tmp_path / "one"))
