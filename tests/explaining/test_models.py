"""Contributions of every kind of classifier: they add up, equal the library's own, and come back to the table."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, Normalizer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from recuse.explaining import TypicalCases, column_sources, explain


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) * [1, 10, 100, 1, 1, 1] + [0, 5, -40, 2, 0, 0]
    z = X[:, 0] + 0.2 * (X[:, 1] - 5) - 0.01 * X[:, 2]
    return X, (rng.random(400) < expit(z)).astype(int)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Bonn", "Kiel", None], 500),
            "age": rng.integers(18, 90, 500).astype(float),
            "income": np.where(rng.random(500) < 0.2, np.nan, rng.lognormal(10, 0.5, 500)),
            "noise": rng.normal(size=500),
        }
    )
    z = 0.06 * (frame["age"] - 50) - np.log(frame["income"].fillna(22_000) / 22_000) + (frame["town"] == "Ulm")
    return frame, (rng.random(500) < expit(z)).astype(int)


def prepared():
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(sparse_output=False))
    figures = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return ColumnTransformer([("figures", figures, ["income", "noise", "age"]), ("words", words, ["town"])])


LINEAR = [LogisticRegression(), LinearSVC(), RidgeClassifier(), SGDClassifier(random_state=0), SVC(kernel="linear")]


@pytest.mark.parametrize("model", [*LINEAR, LinearDiscriminantAnalysis()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_models_add_up_from_the_mean_case(numbers, model, weighted):
    X, y = numbers
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    weights = np.arange(len(y)) % 3 + 0.5 if weighted else None
    found = explain(model, X, TypicalCases.of(model, X, weights))
    np.testing.assert_allclose(found.score, model.decision_function(X), rtol=1e-9, atol=1e-9)
    # The mean over the training cases of what a column adds is 0.
    np.testing.assert_allclose(np.average(found.amounts, axis=0, weights=weights), 0, atol=1e-9)
    assert found.error is None
    one = found.amounts[0] / (X[0] - np.average(X, axis=0, weights=weights))
    np.testing.assert_allclose(one, np.ravel(model[-1].coef_) / model[0].scale_, rtol=1e-6)


def boosters():
    lightgbm, xgboost, catboost = (pytest.importorskip(name) for name in ("lightgbm", "xgboost", "catboost"))
    few = {"n_estimators": 20, "max_depth": 4}
    return {
        "lightgbm": lightgbm.LGBMClassifier(**few, verbosity=-1),
        "xgboost": xgboost.XGBClassifier(**few, n_jobs=1),
        "catboost": catboost.CatBoostClassifier(n_estimators=20, depth=4, verbose=False, allow_writing_files=False),
    }


def own_values(name, model, X):
    """Contributions as each library gives them, the base last."""
    if name == "lightgbm":
        return model.booster_.predict(X, pred_contrib=True)
    if name == "xgboost":
        import xgboost

        return model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    import catboost

    return model.get_feature_importance(catboost.Pool(X), type="ShapValues")


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
def test_boosters_give_what_their_libraries_give(numbers, name):
    X, y = numbers
    X = X.copy()
    X[::7, 0] = np.nan
    model = boosters()[name].fit(X, y)
    found = explain(model, X, TypicalCases.of(model, X))
    own = own_values(name, model, X)
    np.testing.assert_allclose(found.amounts, own[:, :-1], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.base, own[:, -1], rtol=1e-6)
    np.testing.assert_allclose(expit(found.score), model.predict_proba(X)[:, 1], atol=1e-5)


def test_trees_worked_out_here_are_what_lightgbm_gives(numbers):
    """The same definition: a tree of LightGBM's, built again from its own description."""
    lightgbm = pytest.importorskip("lightgbm")
    from recuse.explaining.treeshap import FlatTree, tree_shap

    X, y = numbers
    model = lightgbm.LGBMClassifier(n_estimators=1, num_leaves=12, verbosity=-1).fit(X, y)
    table = model.booster_.trees_to_dataframe()
    position = {name: i for i, name in enumerate(table["node_index"])}
    left, right = (
        table[side].map(position).fillna(-1).astype(int).to_numpy() for side in ("left_child", "right_child")
    )
    feature = table["split_feature"].str.removeprefix("Column_").fillna("-1").astype(int).to_numpy()
    tree = FlatTree(
        left, right, feature, table["count"].to_numpy(float), table["value"].to_numpy(float),
        lambda node, values: values <= table["threshold"][node],
    )  # fmt: skip
    np.testing.assert_allclose(tree_shap(tree, X), model.booster_.predict(X, pred_contrib=True)[:, :-1], atol=1e-9)


EXACT = [LogisticRegression(), HistGradientBoostingClassifier(max_iter=20), RandomForestClassifier(5, random_state=0)]


@pytest.mark.parametrize("last", EXACT, ids=lambda model: type(model).__name__)
def test_prepared_columns_come_back_to_the_table(table, last):
    frame, y = table
    model = make_pipeline(prepared(), SelectKBest(k=7), last).fit(frame, y)
    found = explain(model, frame, TypicalCases.of(model, frame))
    assert found.amounts.shape == frame.shape
    assert found.error is None
    p = model.predict_proba(frame)[:, 1]
    np.testing.assert_allclose(expit(found.score) if found.scale == "log-odds" else found.score, p, atol=1e-9)
    ages = np.corrcoef(found.amounts[:, 1], frame["age"])[0, 1]
    assert ages > 0.7


def test_a_column_of_a_sum_counts_by_its_own_value_only(table):
    frame, y = table
    model = make_pipeline(prepared(), LogisticRegression()).fit(frame, y)
    typical = TypicalCases.of(model, frame)
    before = explain(model, frame, typical).amounts
    for j, (name, other) in enumerate({"town": "Ulm", "age": 70.0, "income": np.nan, "noise": 1.0}.items()):
        after = explain(model, frame.assign(**{name: other}), typical).amounts
        np.testing.assert_allclose(np.delete(after, j, axis=1), np.delete(before, j, axis=1), atol=1e-12)
        assert np.ptp(after[:, j]) < 1e-12


@pytest.mark.parametrize(
    "model",
    [
        SVC(gamma=0.1),
        MLPClassifier((8,), max_iter=30, random_state=0),
        GaussianNB(),
        make_pipeline(PCA(2), LogisticRegression()),
        make_pipeline(Normalizer(), LogisticRegression()),
    ],
    ids=["kernel machine", "network", "naive bayes", "components", "normaliser"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_no_sum_is_estimated_with_its_error(numbers, model):
    X, y = numbers
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    typical = TypicalCases.of(model, X)
    assert len(typical.cases) == 64
    found = explain(model, X[:20], typical)
    assert found.error.shape == (20, 6)
    score = model.predict_proba(X[:20])[:, 1] if found.scale == "probability" else model.decision_function(X[:20])
    np.testing.assert_allclose(found.score, score, atol=1e-9)


def test_searches_and_frozen_models_are_looked_into(numbers):
    X, y = numbers
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [1.0]}, cv=2)
    search.fit(X, y)
    for model in (search, FrozenEstimator(search), FrozenEstimator(search.best_estimator_)):
        found = explain(model, X, TypicalCases.of(model, X))
        np.testing.assert_allclose(found.score, search.decision_function(X), atol=1e-9)


def test_a_model_that_is_not_what_it_seems_is_compared_with_cases(numbers):
    class Bent(LogisticRegression):
        def decision_function(self, X):
            return super().decision_function(X) ** 3

        def predict_proba(self, X):
            p = expit(self.decision_function(X))
            return np.column_stack([1 - p, p])

    X, y = numbers
    model = Bent().fit(X, y)
    assert explain(model, X[:5], TypicalCases.of(model, X)) is None  # rather than figures that do not add up


def test_sparse_cases_and_three_classes_are_not_told(numbers):
    from scipy.sparse import csr_array

    X, y = numbers
    model = LogisticRegression().fit(csr_array(X), y)
    assert TypicalCases.of(model, csr_array(X)) is None
    assert explain(model, csr_array(X), TypicalCases()) is None
    assert TypicalCases.of(GaussianNB().fit(X, np.arange(400) % 3), X) is None


# Where columns come from


def test_sources_of_transformers(table):
    frame, y = table
    union = FeatureUnion(
        [("bins", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")), ("same", "passthrough")]
    )
    figures = frame[["age", "noise"]]
    cases = [
        (prepared(), frame, [2, 3, 1, 2, 0, 0, 0, 0]),
        (StandardScaler(), figures, [0, 1]),
        (SimpleImputer(), frame[["income", "age"]], [0, 1]),
        (OneHotEncoder(drop="first"), frame[["town"]], [0, 0, 0]),
        (OneHotEncoder(max_categories=2), frame[["town"]], [0, 0]),
        (union, figures, [0, 0, 0, 1, 1, 1, 0, 1]),
        (SplineTransformer(n_knots=3, degree=2), figures, [0] * 4 + [1] * 4),
        (SelectKBest(k=1), figures, [0]),
        (PCA(2), figures, None),
        (make_pipeline(StandardScaler(), PCA(1)), figures, None),
        (Normalizer(), figures, None),
    ]
    for step, given, expected in cases:
        made = step.fit(given, y)
        found = column_sources(made, list(given.columns))
        assert (found is None) == (expected is None), step
        if found is not None:
            assert found.tolist() == expected
            assert made.transform(given).shape[1] == len(expected)


def test_sources_of_a_prepared_table():
    from skrub import StringEncoder, TableVectorizer

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, 90), unit="D"),
            "town": rng.choice(["Ulm", "Bonn"], 90),
            "job": [f"job {i} of {i % 7}" for i in range(90)],
            "same": 1.0,
        }
    )
    step = TableVectorizer(high_cardinality=StringEncoder(n_components=3)).fit(frame)
    found = column_sources(step, list(frame.columns))
    names = step.get_feature_names_out()
    assert len(found) == len(names)
    for source, name in zip(found, names, strict=True):
        assert name.startswith(frame.columns[source])
