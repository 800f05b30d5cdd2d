"""Models on disk: round trips, what save refuses, and versions."""

import sys
import warnings

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
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import recuse
from recuse import ExactBoostClassifier
from recuse.boosting.exactboost.objectives import of_roc
from recuse.costs import Costs
from recuse.labels import label_space
from recuse.persistence import load, models, save, saved_versions
from tests.persistence.handmade import text, write_model

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, :6], Y[:200]


def round_trip(model, path, **arguments):
    save(model, path, **arguments)
    return load(path, **arguments)


class ForeignScaler(StandardScaler):
    """A type of neither recuse nor scikit-learn."""


# What is refused before anything is written


@pytest.mark.parametrize("name", ["model.pkl", "model.Pickle", "model.joblib"])
def test_the_name_of_a_pickle_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"is named like a pickle.*Name it model\.skops\.$"):
        save(StandardScaler().fit(X), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "model",
    [
        recuse.DoubleHingeSVC(),
        make_pipeline(StandardScaler(), recuse.ThresholdRejectClassifier(LogisticRegression())),
        GridSearchCV(ExactBoostClassifier(), {"n_estimators": [2]}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_that_is_not_fitted_is_refused(path, model):
    with pytest.raises(NotFittedError, match=f"^model={type(model).__name__} is not fitted: call fit before"):
        save(model, path)


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
    weighted, named = {0: 1, 1: 3}, {"no": 1}
    assert round_trip(RidgeClassifier(class_weight=weighted).fit(X, Y), path).class_weight == weighted
    model = RidgeClassifier(class_weight=named).fit(X, np.where(Y, "yes", "no"))
    assert round_trip(model, path).class_weight == named


def test_save_says_what_cannot_be_written(path):
    from sklearn.cluster import Birch

    with pytest.raises(ValueError, match=r"model=Birch cannot be saved: .*not supported yet\.$"):
        save(Birch(), path)
    endless = LogisticRegression()
    endless.C = endless
    with pytest.raises(ValueError, match=r"model=LogisticRegression cannot be saved"):
        save(endless, path)
    assert not path.exists()


# Versions


def test_versions_are_recorded(path):
    save(StandardScaler().fit(X), path)
    versions = saved_versions(path)
    assert list(versions) == ["recuse", "scikit-learn", "numpy", "scipy", "skops", "Python"]
    assert versions["recuse"] == recuse.__version__
    assert versions["scikit-learn"] == sklearn.__version__
    assert versions["Python"] == ".".join(map(str, sys.version_info[:3]))


def test_same_versions_are_silent(path):
    assert round_trip(StandardScaler().fit(X), path).n_samples_seen_ == 200  # warnings are errors here


def test_other_version_of_recuse_is_said_once(path, monkeypatch):
    save(StandardScaler().fit(X), path)
    monkeypatch.setattr(models, "__version__", "99.0")
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


def _miss_rate(fpr, tpr):
    return 1 - float(np.interp(0.1, fpr, tpr))


def test_an_objective_of_ones_own_is_saved_if_it_can_be_found_again(path, monkeypatch):
    def inner(positives, negatives):
        return 1.0 - (positives[:, None] > negatives).mean()

    X, y = np.arange(20.0)[:, None], np.arange(20) // 10
    size = {"n_estimators": 1, "n_rounds": 2, "max_bins": 4, "subsample": 1.0, "max_features": 1.0, "random_state": 0}
    named = [f"{__name__}._miss_rate"]
    model = ExactBoostClassifier(metric=of_roc(_miss_rate), **size).fit(X, y)
    with pytest.raises(ValueError, match=r"_miss_rate, which load would refuse"):
        save(model, path)
    save(model, path, trusted=named)
    assert np.array_equal(load(path, trusted=named).predict(X), model.predict(X))
    assert np.array_equal(load(path, trusted=_miss_rate).predict(X), model.predict(X))
    monkeypatch.delattr(sys.modules[__name__], "_miss_rate")
    with pytest.raises(ValueError, match=r"model.skops needs .*_miss_rate: define or import it before"):
        load(path, trusted=named)
    hidden = ExactBoostClassifier(metric=inner, **size).fit(X, y)
    with pytest.raises(ValueError, match=r"inner, which load could not find again: define it at the top of a module"):
        save(hidden, path, trusted=[f"{__name__}.inner"])
