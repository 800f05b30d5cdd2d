"""Loading: every place data sets come from, and every way they can be wrong."""

import gzip
import os
import time
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from recuse.datasets import DATASETS, Dataset, load, loading, names

FOLDER = os.environ.get("RECUSE_DATA")
needs_data = pytest.mark.skipif(not FOLDER, reason="the environment variable RECUSE_DATA names no folder of data sets")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder; nothing may be fetched."""
    monkeypatch.setenv("RECUSE_DATA", str(tmp_path))
    monkeypatch.setattr(loading, "fetch_openml", lambda **_: pytest.fail("OpenML was asked"))
    return tmp_path


@pytest.fixture
def tiny(monkeypatch):
    """A data set of three rows, two features and one positive."""
    monkeypatch.setitem(DATASETS, "tiny", Dataset(3, 2, 1, "yes", ("BA",), note="Made up."))


def write_csv(folder, text, name="tiny"):
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))


def test_unknown_name_offers_close_matches():
    with pytest.raises(
        ValueError, match=r"name='phonemes' is not a known data set: did you mean phoneme\? .*names\(\)"
    ):
        load("phonemes")
    with pytest.raises(ValueError, match=r"'qqqq' is not a known data set: recuse.datasets.names\(\) lists"):
        load("qqqq")


# scikit-learn


def test_breast_cancer_needs_neither_folder_nor_network(monkeypatch):
    monkeypatch.setenv("RECUSE_DATA", "/no/such/folder")
    cancer = load("breast_cancer")
    assert cancer.data.shape == (569, 30)
    assert cancer.target.dtype == np.int64
    assert cancer.target.sum() == 357
    assert cancer.positive == "benign"
    assert cancer.feature_names[:2] == ["mean radius", "mean texture"]
    assert "frame" not in cancer


def test_wdbc_is_breast_cancer_with_malignant_positive(monkeypatch):
    monkeypatch.delenv("RECUSE_DATA", raising=False)
    cancer, wdbc = load("breast_cancer"), load("wdbc")
    assert np.array_equal(wdbc.data, cancer.data)
    assert np.array_equal(wdbc.target, 1 - cancer.target)
    assert wdbc.feature_names[0] == "mean_radius"
    assert wdbc.DESCR.startswith(
        "wdbc: 569 rows, 30 features, 212 positives. target = 1 means malignant. Used by DH-SVM"
    )


# The folder


def test_file_is_read_with_missing_values(folder, tiny):
    write_csv(folder, "a,b,target\n,,0\n1.5,,1\n-2e3,4,0\n")
    tiny_set = load("tiny")
    assert np.array_equal(tiny_set.data, [[np.nan, np.nan], [1.5, np.nan], [-2000, 4]], equal_nan=True)
    assert tiny_set.target.tolist() == [0, 1, 0]
    assert tiny_set.target.dtype == np.int64
    assert tiny_set.feature_names == ["a", "b"]
    assert (tiny_set.name, tiny_set.positive) == ("tiny", "yes")
    assert "Made up." in tiny_set.DESCR
    assert "tiny.csv.gz" in tiny_set.DESCR
    assert tiny_set.data.flags.c_contiguous


def test_windows_line_ends_are_read(folder, tiny):
    write_csv(folder, "a,b,target\r\n1,,0\r\n,2,1\r\n3,4,0\r\n")
    X, y = load("tiny", return_X_y=True)
    assert np.array_equal(X, [[1, np.nan], [np.nan, 2], [3, 4]], equal_nan=True)
    assert y.tolist() == [0, 1, 0]


def test_long_runs_of_empty_cells(folder, monkeypatch):
    monkeypatch.setitem(DATASETS, "wide", Dataset(2, 6, 1, "yes"))
    write_csv(folder, "a,b,c,d,e,f,target\n,,,,,,1\n1,,,,,6,0\n", "wide")
    assert np.isnan(load("wide").data).sum(axis=1).tolist() == [6, 4]


def test_as_frame(folder, tiny):
    pd = pytest.importorskip("pandas")
    write_csv(folder, "a,b,target\n1,2,0\n3,,1\n5,6,0\n")
    tiny_set = load("tiny", as_frame=True)
    expected = pd.DataFrame({"a": [1.0, 3, 5], "b": [2, np.nan, 6], "target": [0, 1, 0]})
    pd.testing.assert_frame_equal(tiny_set.frame, expected)
    X, y = load("tiny", as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(X, expected[["a", "b"]])
    pd.testing.assert_series_equal(y, expected["target"])


def test_as_frame_without_pandas_names_the_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert load("breast_cancer").data.shape == (569, 30)
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas: install it, or use as_frame=False"):
        load("breast_cancer", as_frame=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,target\n1,2,0\n1,2,1\n", r"has 2 rows, 2 features and 1 positives; expected 3, 2 and 1"),
        ("a,target\n1,0\n1,0\n1,1\n", r"has 3 rows, 1 features"),
        ("a,b,target\n1,2,1\n1,2,1\n1,2,0\n", r"and 2 positives; expected 3, 2 and 1"),
        ("a,b,target\n1,2,0\n1,2,1\n1,2,0.5\n", r"must end with a column 'target' of 0 and 1"),
        ("a,b,label\n1,2,0\n1,2,1\n1,2,0\n", r"its last column is 'label'"),
        ("a,b,target\n1,2,0\n1,2,1\n1,2", r"is damaged or is not a table of numbers"),
        ("a,b,target\n1,2,0\n1,red,1\n1,2,0\n", r"is damaged or is not a table of numbers"),
        ("a,target\n1,2,0\n1,2,1\n1,2,0\n", r"2 column names for 3 columns"),
        ("a,b,target\n", r"no rows"),
        ("", r"no rows"),
    ],
)
def test_wrong_file_is_refused(folder, tiny, text, message):
    write_csv(folder, text)
    with pytest.raises(ValueError, match=message) as caught:
        load("tiny")
    assert "tiny.csv.gz" in str(caught.value)


def test_truncated_or_foreign_file_is_refused(folder, tiny):
    whole = gzip.compress(("a,b,target\n" + "1,2,0\n" * 2000).encode())
    for content in (
        whole[: len(whole) // 2],
        whole[:5],
        b"",
        b"a,b,target\n1,2,0\n",
        whole[:40] + b"junk" + whole[44:],
    ):
        (folder / "tiny.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"tiny.csv.gz is damaged .* fetch the file again"):
            load("tiny")


def test_missing_everywhere_names_both_ways(folder, tiny, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"RECUSE_DATA to a folder that holds tiny.csv.gz .*not on OpenML"):
        load("tiny")
    monkeypatch.delenv("RECUSE_DATA")
    with pytest.raises(FileNotFoundError, match=r"tiny.csv.gz \(it is not set\); it is not on OpenML"):
        load("tiny")


def test_mistyped_folder_is_reported(monkeypatch):
    monkeypatch.setenv("RECUSE_DATA", "/no/such/folder")
    monkeypatch.setattr(loading, "fetch_openml", lambda **_: pytest.fail("OpenML was asked"))
    with pytest.raises(FileNotFoundError, match=r"RECUSE_DATA='/no/such/folder' is not a folder"):
        load("pima")


# OpenML


def openml_answer(labels, shape=(768, 8)):
    data = np.arange(shape[0] * shape[1], dtype=float).reshape(shape)
    return Bunch(data=data, target=np.array(labels, dtype=object), feature_names=[f"v{i}" for i in range(shape[1])])


def answer_with(monkeypatch, answer):
    asked = {}

    def fetch_openml(**arguments):
        asked.update(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.delenv("RECUSE_DATA", raising=False)
    monkeypatch.setattr(loading, "fetch_openml", fetch_openml)
    return asked


def test_openml_positive_class_is_known_by_its_count(monkeypatch):
    labels = ["tested_positive"] * 268 + ["tested_negative"] * 500
    asked = answer_with(monkeypatch, openml_answer(labels))
    pima = load("pima")
    assert asked["data_id"] == 37
    assert asked["as_frame"] is False
    assert pima.target.tolist() == [1] * 268 + [0] * 500
    assert pima.data[1, 0] == 8
    assert pima.feature_names[-1] == "v7"
    assert "Read from OpenML (data set 37)." in pima.DESCR


def test_folder_comes_before_openml(folder):
    rows = "".join(f"0,{i},{int(i < 178)}\n" for i in range(748))
    write_csv(folder, "a,b,target\n" + rows, "transfusion")
    with pytest.raises(
        ValueError, match=r"transfusion.csv.gz has 748 rows, 2 features and 178 positives; expected 748, 4"
    ):
        load("transfusion")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (openml_answer(["a"] * 267 + ["b"] * 501), r"labels a: 267, b: 501; expected two, one of them 268 times"),
        (openml_answer(["a"] * 268 + ["b"] * 250 + ["c"] * 250), r"labels a: 268, b: 250, c: 250; expected two"),
        (openml_answer(["a"] * 268 + ["b"] * 500, (768, 7)), r"has 768 rows, 7 features and 268 positives"),
        (openml_answer(["a"] * 268 + ["b"] * 10, (278, 8)), r"has 278 rows, 8 features and 268 positives"),
    ],
)
def test_another_table_on_openml_is_refused(monkeypatch, answer, message):
    answer_with(monkeypatch, answer)
    with pytest.raises(ValueError, match=message):
        load("pima")


@pytest.mark.parametrize("failure", [URLError("no route"), TimeoutError("slow"), ValueError("Dataset is inactive")])
def test_network_failure_names_both_ways(monkeypatch, failure):
    answer_with(monkeypatch, failure)
    with pytest.raises(
        ConnectionError, match=r"OpenML \(data set 37\): .*Check the network .*RECUSE_DATA .*pima.csv.gz"
    ):
        load("pima")


# The real files


@needs_data
@pytest.mark.parametrize("name", names())
def test_every_set_is_as_the_registry_says(name):
    facts = DATASETS[name]
    bunch = load(name)
    assert bunch.data.shape == (facts.rows, facts.features) == (len(bunch.target), len(bunch.feature_names))
    assert np.unique(bunch.target).tolist() == [0, 1]
    assert bunch.target.sum() == facts.positives
    assert not np.isinf(bunch.data).any()


@needs_data
def test_the_folder_holds_nothing_unknown():
    files = {path.name.removesuffix(".csv.gz") for path in Path(FOLDER).glob("*.csv.gz")}
    assert files == set(names()) - {"breast_cancer"}


@needs_data
@pytest.mark.parametrize("name", ["heart_cleveland", "ilpd", "parkinsons", "oil_spill"])
def test_same_values_as_pandas(name):
    pd = pytest.importorskip("pandas")
    expected = pd.read_csv(Path(FOLDER) / f"{name}.csv.gz")
    pd.testing.assert_frame_equal(load(name, as_frame=True).frame, expected, check_dtype=False)


@needs_data
def test_large_sets_take_no_more_time_than_they_need_and_keep_missing_values():
    pd = pytest.importorskip("pandas")

    def seconds(read):
        """Of this process: what else the machine does is not counted."""
        start = time.process_time()
        return read(), time.process_time() - start

    (gmsc, skin), ours = seconds(lambda: (load("gmsc"), load("skin")))
    _, theirs = seconds(lambda: [pd.read_csv(Path(FOLDER) / f"{name}.csv.gz") for name in ("gmsc", "skin")])
    assert ours < 20 * theirs  # about 1.5 times
    missing = dict(zip(gmsc.feature_names, np.isnan(gmsc.data).sum(axis=0), strict=True))
    assert (missing["MonthlyIncome"], missing["NumberOfDependents"]) == (29731, 3924)
    assert sum(missing.values()) == 29731 + 3924
    assert skin.data[0].tolist() == [74, 85, 123]
