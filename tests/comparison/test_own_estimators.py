"""Arrays instead of tables, and estimators of the user's own among the methods."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import recuse
from recuse import Costs, DoubleHingeSVC, ThresholdRejectClassifier
from recuse.comparison import METHODS, Task, compare, cross_validation, fit, fits
from recuse.comparison.checkpoints import method_key
from recuse.comparison.own import as_methods
from tests.comparison.conftest import mixed_table

COSTS = Costs(fp=1, fn=3, reject=0.3)
OPTIONS = {"costs": COSTS, "cv": 3, "repeats": 1}


def cases(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)


X, y = cases()


class Own(ClassifierMixin, BaseEstimator):
    """A classifier that no package has."""

    def __init__(self, scale=1.0, table=None):
        self.scale = scale
        self.table = table

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)

    def predict(self, X):
        return self.inner_.predict(X)


GIVEN = {
    "arrays": (X, y),
    "lists": (X.tolist(), y.tolist()),
    "float32 and a column": (X.astype(np.float32), y[:, None]),
    "pandas": (pd.DataFrame(X, index=np.arange(120)[::-1]), pd.Series(y, index=np.arange(120)[::-1], name="ill")),
    "polars": (pl.DataFrame(X), pl.Series("ill", y)),
    "a frame of one column": (pd.DataFrame(X), pd.DataFrame({"ill": y})),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_arrays_are_a_table(kind):
    given = GIVEN[kind]
    result = recuse.compare(*given, methods=["logistic-chow"], **OPTIONS)
    expected = compare(pd.DataFrame(X).assign(y=y), "y", methods=["logistic-chow"], **OPTIONS)
    assert result.row("logistic-chow").cost.value == pytest.approx(expected.row("logistic-chow").cost.value)
    assert result.cases.positive == 1
    assert result.cases.target == ("ill" if kind in ("pandas", "polars", "a frame of one column") else "outcome")
    assert recuse.decide(result.model("logistic-chow"), given[0]).label.shape == (120,)
    assert f"{y.sum()} of 120 cases" in repr(result)


def test_a_list_of_mixed_rows_keeps_its_numbers():
    rows = [[value, "left" if value > 0 else "right", None] for value in X[:, 0].tolist()]
    result = compare([row[:2] for row in rows], y.tolist(), methods=["logistic-chow"], **OPTIONS)
    assert str(result.cases.features["x0"].dtype) == "float64"


def test_groups_go_with_arrays():
    groups = np.arange(120) // 4
    result = compare(X, y, groups=groups.tolist(), methods=["logistic-chow"], **OPTIONS)
    assert result.cases.groups.tolist() == groups.tolist()
    for fold in result.answers["logistic-chow"].folds:
        rest = np.setdiff1d(np.arange(120), fold.test)
        assert not set(groups[fold.test]) & set(groups[rest])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((X, y[:5]), "y holds 5 outcomes for 120 cases in X"),
        ((X, np.zeros((120, 2))), r"y must hold one outcome per case; got shape \(120, 2\)"),
        ((X[:, 0], y), r"X must be a table of two dimensions; got shape \(120,\)"),
        ((None, y), "data is missing"),
        ((X, None), "target is missing"),
    ],
)
def test_arrays_that_do_not_fit(given, message):
    with pytest.raises(ValueError, match=message):
        compare(*given, **OPTIONS)


def test_sparse_input_is_refused_with_a_remedy():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"X is sparse.*X.toarray\(\)"):
        compare(csr_array(X), y, **OPTIONS)


def test_a_guess_of_the_positive_outcome_warns_unless_nobody_would_ask():
    with pytest.warns(UserWarning, match="'good' is taken as the positive outcome of 'outcome'"):
        compare(X, np.where(y, "good", "bad"), methods=["logistic-chow"], **OPTIONS)
    for outcomes in (y, y.astype(bool), 2 * y - 1, np.where(y, "Yes", "No"), y.astype(str)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compare(X, outcomes, methods=["logistic-chow"], **OPTIONS)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_own_estimators_stand_among_the_methods(n_jobs):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
    rejecting = make_pipeline(StandardScaler(), DoubleHingeSVC(costs=COSTS))
    given = ["logistic-chow", LinearDiscriminantAnalysis(), ("mine", Own()), Own(), Own(2.0), search, rejecting]
    result = compare(X, y, methods=given, n_jobs=n_jobs, **OPTIONS)
    names = ["logistic-chow", "lineardiscriminantanalysis", "mine", "own", "own-2", "gridsearchcv", "pipeline"]
    assert [method.name for method in result.methods] == names
    assert result.errors == {}
    # The same as the classifier of the list that does the same, and as the estimator by itself.
    wrapped = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS)
    for name, estimator in (("mine", wrapped), ("pipeline", rejecting)):
        for fold in result.answers[name].folds:
            rest = np.setdiff1d(np.arange(len(y)), fold.test)
            alone = recuse.decide(estimator.fit(X[rest].astype(np.float32), y[rest]), X[fold.test].astype(np.float32))
            np.testing.assert_allclose(fold.h, alone.h, atol=1e-6)
            np.testing.assert_allclose(fold.r, alone.r, atol=1e-6)
    assert recuse.decide(result.model("own"), X).label.shape == y.shape


def test_the_order_of_the_names_changes_nothing():
    names, own = ["logistic-no-reject", "logistic-chow", "logistic-tuned"], ("mine", GaussianNB())
    expected = compare(X, y, methods=[*names, own], **OPTIONS)
    permuted = compare(X, y, methods=[own, *names[::-1]], **OPTIONS)
    assert [method.name for method in permuted.methods] == [*names, "mine"]
    assert permuted.verdict == expected.verdict
    assert permuted.conclusions == expected.conclusions
    assert [row.name for row in permuted.rows] == [row.name for row in expected.rows]


def test_own_estimators_come_last_in_the_order_given():
    given = [("b", GaussianNB()), "logistic-chow", ("a", GaussianNB())]
    assert [method.name for method in as_methods(given, 100)] == ["logistic-chow", "b", "a"]


def test_a_dict_is_pairs_of_name_and_estimator():
    pairs = {"second": GaussianNB(), "first": LogisticRegression()}
    (second, first) = as_methods(pairs, 100)
    assert (second.name, first.name) == ("second", "first")
    assert second.build.estimator is pairs["second"]


def test_one_estimator_may_stand_alone():
    assert [method.name for method in as_methods(make_pipeline(StandardScaler(), Own()), 100)] == ["pipeline"]
    assert [method.name for method in as_methods("logistic-chow", 100)] == ["logistic-chow"]
    assert as_methods(METHODS, 10) == list(METHODS)


def test_a_model_of_an_own_estimator_can_be_fitted_alone():
    model = fit(X, y, method=Own(), costs=COSTS)
    expected = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS).fit(X.astype(np.float32), y)
    assert recuse.decide(model, X).label.tolist() == expected.predict(X.astype(np.float32)).tolist()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([LogisticRegression], TypeError, r"LogisticRegression is a class; give an instance of it"),
        ([Ridge()], TypeError, "Ridge is no classifier"),
        ([StandardScaler()], TypeError, "StandardScaler is no classifier"),
        ([make_pipeline(StandardScaler(), Ridge())], TypeError, "Pipeline is no classifier"),
        ([3], TypeError, "int is no classifier"),
        (3, TypeError, "int is no classifier"),
        ([LinearSVC()], TypeError, "LinearSVC estimates no probabilities, which Chow's rule needs"),
        ([(3, Own())], TypeError, "3 cannot name an estimator"),
        ([("logistic-chow", Own())], ValueError, "the name 'logistic-chow' is taken"),
        ([("send-all", Own())], ValueError, "the name 'send-all' is taken"),
        ([("a", Own()), ("a", Own())], ValueError, "the name 'a' is taken"),
    ],
)
def test_what_is_no_method(given, error, message):
    with pytest.raises(error, match=f"methods: .*{message}" if not message.startswith("the") else message):
        compare(X, y, methods=given, **OPTIONS)


@pytest.mark.parametrize(
    ("own", "positive", "warns"),
    [
        (DoubleHingeSVC(costs=COSTS), 1, False),
        (DoubleHingeSVC(), 1, True),
        (DoubleHingeSVC(costs=COSTS), 0, True),
        (DoubleHingeSVC(costs=COSTS, pos_label=0), 0, False),
        (DoubleHingeSVC(costs=COSTS.swapped()), 0, False),
    ],
)
def test_prices_other_than_those_charged_are_told(own, positive, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(X, y, positive=positive, methods=[own], **OPTIONS)
    told = [str(warning.message) for warning in caught if "prices of its own" in str(warning.message)]
    assert len(told) == warns


def test_finished_folds_are_recognised_by_the_parameters(tmp_path, monkeypatch):
    monkeypatch.setattr(cross_validation, "write_run", lambda *_: None)
    fitted = []
    monkeypatch.setattr(
        fits,
        "run_fold",
        lambda *args, run=fits.run_fold: fitted.append(args[0].name) or run(*args),
    )
    for own, expected in ((Own(2.0), 3), (Own(2.0), 0), (Own(3.0), 3), (Own(2.0), 0)):
        fitted.clear()
        compare(X, y, methods=[("mine/yours", own)], out=tmp_path, **OPTIONS)
        assert len(fitted) == expected


def test_keys_see_all_of_a_large_parameter_and_none_of_a_nameless_one():
    def key(estimator):
        return method_key(as_methods([estimator], 100)[0], Task(COSTS, 1, 0, 100))

    table = np.zeros(5000)
    other = table.copy()
    other[2500] = 1
    assert key(Own(table=table)) == key(Own(table=table.copy())) != key(Own(table=other))
    nameless = make_pipeline(FunctionTransformer(lambda values: values), Own())
    assert key(nameless) != key(nameless)


def test_keys_see_a_changed_class(tmp_path, monkeypatch):
    """A class that is edited between two runs answers otherwise, though its name and parameters are the same."""
    source = "from sklearn.dummy import DummyClassifier\nclass Mine(DummyClassifier):\n    pass\n"
    keys = []
    for edited in (source, source, source + "# edited\n"):
        (tmp_path / "edited_module.py").write_text(edited)
        monkeypatch.syspath_prepend(str(tmp_path))
        import edited_module

        keys.append(method_key(as_methods([edited_module.Mine()], 100)[0], Task(COSTS, 1, 0, 100)))
    assert keys[0] == keys[1] != keys[2]


def test_a_run_with_an_own_class_is_written_without_the_model_and_says_so(tmp_path):
    with pytest.warns(UserWarning, match=r"model.skops was not written: .*Own.*trusted="):
        result = compare(X, y, methods=[("mine", Own())], out=tmp_path / "run", **OPTIONS)
    assert result.winner.name == "mine"
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        ".cache",
        "decisions.csv",
        "leaderboard.csv",
        "report.html",
        "run.json",
        "summary.json",
    }


def test_a_comparison_of_scikit_learn_s_classifiers_can_be_saved(tmp_path):
    compare(X, y, methods=[("a <b> & 'c'", LinearDiscriminantAnalysis())], out=tmp_path / "run", **OPTIONS)
    assert recuse.load(tmp_path / "run" / "model.skops").predict(X).shape == y.shape
    assert "a &lt;b&gt; &amp; &#39;c&#39;" in (tmp_path / "run" / "report.html").read_text()


def test_an_interrupted_run_owns_its_folder(tmp_path, monkeypatch):
    run_fold, done = fits.run_fold, []

    def interrupted(*given):  # after the first fold: a run that has finished nothing leaves its folder free
        if done:
            raise KeyboardInterrupt
        done.append(run_fold(*given))
        return done[0]

    table = mixed_table()
    options = {"positive": "bad", "methods": ["logistic-chow"], "out": tmp_path / "run", **OPTIONS}
    with monkeypatch.context() as patched:
        patched.setattr(fits, "run_fold", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compare(table, "default", **options)
    with pytest.raises(FileExistsError, match=r"holds the results of another table, 'table'.*overwrite=True"):
        compare(table.iloc[:-1], "default", **options)
    monkeypatch.setattr(cross_validation, "write_run", lambda *_: None)
    compare(table, "default", **options)
    compare(table.iloc[:-1], "default", overwrite=True, **options)
    assert len(list((tmp_path / "run" / ".cache").glob("*/*.npz"))) == 3  # those of the other table are gone


def test_a_finished_run_owns_its_folder_without_its_cache(tmp_path):
    import shutil

    options = {"methods": ["logistic-chow"], "out": tmp_path, **OPTIONS}
    compare(X, y, **options)
    shutil.rmtree(tmp_path / ".cache")
    with pytest.raises(FileExistsError, match="another table"):
        compare(X + 1, y, **options)
    compare(X, y, **options)
