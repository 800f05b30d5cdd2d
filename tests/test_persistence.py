"""Models on disk: round trips, files nobody should load, files cut short, and writes that fail half way."""

import io
import json
import os
import pickle
import stat
import sys
import warnings
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import recuse
from recuse import persistence
from recuse.costs import Costs
from recuse.labels import label_space
from recuse.persistence import load, save, saved_versions, write_whole

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, :6], Y[:200]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def round_trip(model, path, **arguments):
    save(model, path, **arguments)
    return load(path, **arguments)


class ForeignScaler(StandardScaler):
    """A type of neither recuse nor scikit-learn."""


# Round trips


def test_pipeline(path):
    model = make_pipeline(SimpleImputer(), SelectKBest(k=4), StandardScaler(), LogisticRegression()).fit(X, Y)
    again = round_trip(model, path)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params()["selectkbest__k"] == 4


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        GradientBoostingClassifier(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3),
        KNeighborsClassifier(),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers(path, model):
    model.fit(X, Y)
    again = round_trip(model, path)
    method = "decision_function" if isinstance(model, SVC) else "predict_proba"
    assert np.array_equal(getattr(again, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize(
    "model", [IsolationForest(n_estimators=5, random_state=0), KernelDensity()], ids=["forest", "density"]
)
def test_novelty_detectors(path, model):
    model.fit(X)
    assert np.array_equal(round_trip(model, path).score_samples(X), model.score_samples(X))


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_grid_search(path, scoring):
    model = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scoring, cv=3)
    search = make_pipeline(StandardScaler(), model).fit(X, Y)
    again = round_trip(search, path)
    assert again[-1].best_params_ == search[-1].best_params_
    assert again.score(X, Y) == search.score(X, Y)
    assert np.array_equal(again[-1].cv_results_["mean_test_score"], search[-1].cv_results_["mean_test_score"])


def test_sparse_model(path):
    model = SVC().fit(scipy.sparse.csr_matrix(X), Y)
    assert np.array_equal(round_trip(model, path).predict(X), model.predict(X))


@pytest.mark.parametrize("labels", [[0, 1], ["benign", "malignant"], [False, True]], ids=["int", "str", "bool"])
def test_threshold_reject_classifier(path, labels):
    from recuse import ThresholdRejectClassifier

    target = np.array(labels)[Y]
    model = ThresholdRejectClassifier(make_pipeline(StandardScaler(), LogisticRegression()), costs=0.1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The labels are booleans")
        model.fit(X, target)
    again = round_trip(model, path)
    before, after = model.decide(X), again.decide(X)
    assert 0 < before.accepted.sum() < len(X)
    for column in ("label", "forced", "accepted", "kind", "h", "r", "reason"):
        old, new = getattr(before, column), getattr(after, column)
        assert old.dtype == new.dtype
        assert np.array_equal(old, new), column
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.predict(X).dtype == model.predict(X).dtype
    assert again.reject_label_ == model.reject_label_
    assert type(again.reject_label_) is type(model.reject_label_)
    assert again.costs_ == model.costs_


def test_costs_and_labels(path):
    costs = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.6, novelty_error=2)
    assert round_trip(costs, path) == costs
    for classes in (np.array([0, 1]), np.array(["a", "bb"]), np.array(["a", "b"], dtype=object), np.array([-1.0, 0.0])):
        space = label_space(classes)
        again = round_trip(space, path)
        assert again.classes.tolist() == classes.tolist()
        assert again.outputs.dtype == space.outputs.dtype
        assert again.outputs.tolist() == space.outputs.tolist()
        assert again.reject_label == space.reject_label
        assert again.decode(np.array([1, -1])).tolist() == space.decode(np.array([1, -1])).tolist()


def test_public_names_and_text_paths(tmp_path):
    recuse.save(Costs(reject=0.3), str(tmp_path / "costs"))
    assert recuse.load(str(tmp_path / "costs")) == Costs(reject=0.3)


# What save refuses


def test_save_refuses_what_load_would(path):
    model = ForeignScaler().fit(X)
    name = f"{__name__}.ForeignScaler"
    with pytest.raises(ValueError, match=rf"model=ForeignScaler holds {name}, which load would refuse: .*trusted="):
        save(model, path)
    assert not path.exists()
    save(model, path, trusted=[name])
    with pytest.raises(ValueError, match=rf"model.skops names {name}, which is not trusted"):
        load(path)
    for trusted in ([name], [ForeignScaler], ForeignScaler, name, iter([name])):
        assert np.array_equal(load(path, trusted=trusted).mean_, model.mean_)


def test_save_refuses_a_function_of_the_user(path):
    from sklearn.preprocessing import FunctionTransformer

    with pytest.raises(ValueError, match=r"holds .*<lambda>, which load would refuse"):
        save(FunctionTransformer(lambda values: values), path)


def test_save_refuses_boolean_keys_which_would_change(path):
    with pytest.raises(ValueError, match=r"True or False as a key .*use labels and keys 1 and 0"):
        save(LogisticRegression(class_weight={False: 1, True: 3}), path)
    assert round_trip(LogisticRegression(class_weight={0: 1, 1: 3}), path).class_weight == {0: 1, 1: 3}
    assert round_trip(LogisticRegression(class_weight={"no": 1}), path).class_weight == {"no": 1}


def test_save_says_what_cannot_be_written(path):
    from sklearn.cluster import Birch

    with pytest.raises(ValueError, match=r"model=Birch cannot be saved: .*not supported yet\.$"):
        save(Birch(), path)
    endless = LogisticRegression()
    endless.C = endless
    with pytest.raises(ValueError, match=r"model=LogisticRegression cannot be saved"):
        save(endless, path)
    assert not path.exists()


# Hostile files


def text(value):
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def named(module, name, loader="FunctionNode"):
    return {"__class__": name, "__module__": module, "__loader__": loader}


def listed(*items):
    return {**named("builtins", "list", "ListNode"), "content": list(items)}


def called_with(function, argument):
    """A dict whose key is made by calling `function` on a text, as skops does for the types of keys."""
    return {**named("builtins", "dict", "DictNode"), "key_types": listed(function), "content": {argument: text(0)}}


def write_model(path, schema, versions=None):
    versions = persistence._present_versions() if versions is None else versions
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({**schema, "protocol": 2, "_skops_version": "0.13"}))
        archive.writestr("recuse.json", json.dumps({"versions": versions}))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("sklearnx", "Model"),
        ("recuse_plugin", "Model"),
        ("", "recuse.costs.Costs"),
        # Names that begin like ours and end elsewhere.
        ("recuse.persistence", "os"),
        ("recuse.persistence.os", "system"),
        ("recuse.persistence", "os.system"),
        ("recuse.datasets", "Path"),
        ("sklearn.utils.fixes", "platform"),
        ("sklearn.model_selection._search", "partial"),
        ("sklearn..os", "system"),
        ("sklearn/../os", "system"),
        ("sklearn", "__builtins__"),
        ("recuse.__main__", "main"),
        # Ours, but able to do harm.
        ("recuse.persistence", "write_whole"),
        ("recuse.persistence", "load"),
        ("sklearn.datasets._base", "clear_data_home"),
        ("sklearn.tree._export", "export_graphviz"),
        ("sklearn.utils._testing", "TempMemmap"),
        ("sklearn.callback._scoring_monitor", "ScoringMonitor"),
        ("sklearn.metrics._scorer._Scorer", "__init__"),
        ("sklearn.nothing", "Here"),
        ("sklearn.linear_model", "Nothing"),
    ],
)
@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ObjectNode"])
def test_names_that_are_not_trusted(path, module, name, loader):
    write_model(path, named(module, name, loader))
    with pytest.raises(ValueError, match=r"model.skops names .* which is not trusted, and nothing of it was loaded"):
        load(path)


def test_only_the_place_of_definition_is_trusted():
    assert persistence._is_ours("sklearn.metrics._classification.accuracy_score")
    assert not persistence._is_ours("sklearn.metrics.accuracy_score")
    assert persistence._is_ours("recuse.costs.Costs")
    assert not persistence._is_ours("recuse.Costs")
    assert not persistence._is_ours("recuse.costs.as_costs")


def test_a_call_hidden_in_a_dict_is_not_made(path, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    write_model(path, called_with(named("sklearn.datasets._base", "clear_data_home"), str(victim)))
    with pytest.raises(ValueError, match=r"sklearn.datasets._base.clear_data_home, which is not trusted"):
        load(path)
    assert victim.is_dir()
    # The file is live: whoever trusts the name loses the folder.
    load(path, trusted=["sklearn.datasets._base.clear_data_home"])
    assert not victim.exists()


def test_nothing_is_imported_for_a_refused_file(path, tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(persistence, "importlib", SimpleNamespace(import_module=pytest.fail))
    write_model(path, listed(named("planted", "Thing"), named("sklearn.linear_model._base", "odd")))
    with pytest.raises(ValueError, match=r"names planted.Thing, which is not trusted"):
        load(path)
    assert "planted" not in sys.modules


def test_every_untrusted_name_is_listed(path):
    write_model(path, listed(named("os", "system"), named("shutil", "rmtree"), text("harmless")))
    with pytest.raises(ValueError, match=r"names os.system, shutil.rmtree, which"):
        load(path)


def spoil_branch(model):
    model.tree_.children_left[0] = 10**6


def spoil_branch_backwards(model):
    model.tree_.children_right[np.flatnonzero(model.tree_.children_left != -1)[1]] = 0


def spoil_feature(model):
    model.tree_.feature[0] = 10**6


def spoil_width(model):
    model.n_features_in_ = 2


def spoil_histogram_branch(model):
    model._predictors[0][0].nodes["right"][0] = 10**6


def spoil_histogram_feature(model):
    model._predictors[1][0].nodes["feature_idx"][0] = 6


def spoil_order(model):
    model._tree.__getstate__()[1][0] = 10**6


def spoil_range(model):
    model._tree.__getstate__()[2]["idx_end"][0] = 10**6


def spoil_leaf(model):
    model._tree.__getstate__()[2]["is_leaf"][-1] = 0


def spoil_sparse(model):
    model.support_vectors_.indices[0] = 10**6


@pytest.mark.parametrize(
    ("model", "spoil"),
    [
        (DecisionTreeClassifier(), spoil_branch),
        (DecisionTreeClassifier(), spoil_branch_backwards),
        (DecisionTreeClassifier(), spoil_feature),
        (DecisionTreeClassifier(), spoil_width),
        (GradientBoostingClassifier(n_estimators=2), spoil_width),
        (HistGradientBoostingClassifier(max_iter=2), spoil_histogram_branch),
        (HistGradientBoostingClassifier(max_iter=2), spoil_histogram_feature),
        (HistGradientBoostingClassifier(max_iter=2), spoil_width),
        (KNeighborsClassifier(algorithm="kd_tree"), spoil_order),
        (KNeighborsClassifier(algorithm="ball_tree"), spoil_range),
        (KNeighborsClassifier(algorithm="kd_tree"), spoil_leaf),
    ],
)
def test_indices_that_point_outside_are_refused(path, model, spoil):
    model.fit(X, Y)
    spoil(model)
    save(make_pipeline(StandardScaler(), model), path)
    with pytest.raises(ValueError, match=r"model.skops could not be turned into a model again \(an index in it points"):
        load(path)


def test_sparse_indices_that_point_outside_are_refused(path):
    model = SVC().fit(scipy.sparse.csr_matrix(X), Y)
    spoil_sparse(model)
    save(model, path)
    with pytest.raises(ValueError, match=r"could not be turned into a model again"):
        load(path)


# Files that are no models


def test_missing_file(path):
    for read in (load, saved_versions):
        with pytest.raises(FileNotFoundError, match=r"model.skops' does not exist"):
            read(path)


def zip_of(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return buffer.getvalue()


VERSIONS = json.dumps({"versions": {}})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a model",
        pickle.dumps(LogisticRegression()),
        zip_of(),
        zip_of(recuse=VERSIONS),
        zip_of(schema="{}"),
        zip_of(schema="{}", recuse=VERSIONS),
        zip_of(schema="[", recuse=VERSIONS),
        zip_of(schema=json.dumps({"protocol": 10**6}), recuse=VERSIONS),
        zip_of(schema=json.dumps({**named("a", "b", "NoSuchNode"), "protocol": 2}), recuse=VERSIONS),
        zip_of(schema=json.dumps({**text(1), "protocol": 2}), recuse="[]"),
        zip_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"versions": 3}'),
    ],
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.skops is not a model saved by recuse.save, or it is damaged\.$"):
        load(path)


def test_damaged_model_is_refused(path):
    save(StandardScaler().fit(X), path)
    whole = path.read_bytes()
    assert load(path).n_features_in_ == 6
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:10]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a model saved by recuse.save, or it is damaged"):
            load(path)
    # A flipped bit in an array is caught by its checksum.
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        array = next(info for info in archive.infolist() if info.filename.endswith(".npy"))
    spot = array.header_offset + 30 + len(array.filename) + array.compress_size // 2
    path.write_bytes(whole[:spot] + bytes([whole[spot] ^ 1]) + whole[spot + 1 :])
    with pytest.raises(ValueError, match=r"it is damaged"):
        load(path)


# Versions


def test_versions_are_recorded(path):
    save(StandardScaler(), path)
    versions = saved_versions(path)
    assert list(versions) == ["recuse", "scikit-learn", "numpy", "scipy", "skops", "Python"]
    assert versions["recuse"] == recuse.__version__
    assert versions["scikit-learn"] == sklearn.__version__
    assert versions["Python"] == ".".join(map(str, sys.version_info[:3]))


def test_same_versions_are_silent(path):
    assert round_trip(StandardScaler().fit(X), path).n_samples_seen_ == 200  # warnings are errors here


def test_other_version_of_recuse_is_said_once(path, monkeypatch):
    save(StandardScaler(), path)
    monkeypatch.setattr(persistence, "__version__", "99.0")
    expected = rf"was saved with recuse {recuse.__version__} and is loaded with 99.0: .*fit and save the model again"
    with pytest.warns(UserWarning, match=expected) as caught:
        load(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_other_version_of_sklearn_is_said_once(path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(sklearn, "__version__", "0.1")
        older.setattr(sklearn.base, "__version__", "0.1")
        save(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), path)
    expected = f"was saved with scikit-learn 0.1 and is loaded with {sklearn.__version__}: "
    with pytest.warns(UserWarning, match=expected) as caught:
        load(path)
    assert len(caught) == 1


def test_unknown_versions_are_said(path):
    write_model(path, text(1), versions={"recuse": recuse.__version__})
    with pytest.warns(UserWarning, match=r"saved with scikit-learn of unknown version and is loaded with"):
        assert load(path) == 1


# Whole or not at all


def test_write_whole_creates_and_replaces(path):
    write_whole(path, b"first")
    assert path.read_bytes() == b"first"
    write_whole(str(path), b"second")
    assert path.read_bytes() == b"second"
    assert os.listdir(path.parent) == [path.name]


def fail(*_, **__):
    raise OSError("disk full")


def interrupt(*_, **__):
    raise KeyboardInterrupt


STEPS = [(persistence, "open", fail), (os, "fsync", fail), (os, "replace", fail), (os, "replace", interrupt)]


@pytest.mark.parametrize(("module", "name", "failure"), [*STEPS, (os, "chmod", fail)])
def test_failure_at_any_step_leaves_the_old_file(path, monkeypatch, module, name, failure):
    path.write_bytes(b"old")
    monkeypatch.setattr(module, name, failure, raising=False)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(("module", "name", "failure"), STEPS)
def test_failure_at_any_step_leaves_no_file_where_none_was(path, monkeypatch, module, name, failure):
    monkeypatch.setattr(module, name, failure, raising=False)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert os.listdir(path.parent) == []


def test_failure_while_writing_leaves_the_old_file(path):
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_whole(path, "text, which a binary file refuses")
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


def test_failed_save_leaves_the_old_model(path, monkeypatch):
    save(Costs(reject=0.1), path)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(Costs(reject=0.3), path)
    assert load(path) == Costs(reject=0.1)
    assert os.listdir(path.parent) == [path.name]


def test_content_is_on_disk_before_the_rename_and_the_rename_after(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: (steps.append(stat.S_ISDIR(os.fstat(handle).st_mode)), fsync(handle))
    )
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
    write_whole(path, b"new")
    assert steps == [False, "replace", True] if os.name == "posix" else steps[:2] == [False, "replace"]


def test_folder_that_cannot_be_synced_is_no_failure(path, monkeypatch):
    monkeypatch.setattr(os, "open", fail)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX systems")
def test_permissions_and_links_are_those_of_an_ordinary_write(path, tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_whole(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(path)
    write_whole(link, b"newest")
    assert link.is_symlink()
    assert path.read_bytes() == b"newest"


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot be written: create the folder .*nowhere first"):
        write_whole(tmp_path / "nowhere" / "model", b"")
    with pytest.raises(IsADirectoryError, match=r"is a folder or a device: give the name of a file"):
        write_whole(tmp_path, b"")
    with pytest.raises(FileNotFoundError, match=r"create the folder"):
        save(Costs(), tmp_path / "nowhere" / "model")
