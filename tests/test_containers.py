"""Every estimator, whatever holds its cases or itself: the same answers, rejections and all."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from recuse import Decisions, cross_val_decide, decide, is_rejected, load, save
from tests.marks import may_reject_all

from .estimators import ESTIMATORS, each, every_estimator

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = make_classification(
    n_samples=120, n_features=4, n_informative=3, n_redundant=0, class_sep=0.7, flip_y=0.15, random_state=3
)
X = X.astype(np.float32).astype(np.float64)  # single precision holds the same values
NAMES = ["a", "b", "c", "d"]
REJECTING = [model for model in ESTIMATORS if "on_reject" in model.get_params()]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


# What cases come in: tables that hold the same numbers.
TABLES = {
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "read-only": read_only,
    "float32": lambda X: X.astype(np.float32),
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, other index": lambda X: pd.DataFrame(X, columns=NAMES, index=range(7, 7 + len(X))),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "pandas double[pyarrow]": lambda X: pd.DataFrame(X, columns=NAMES).astype("double[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "sparse": sparse.csr_matrix,
}


def in_a_search(model):
    return GridSearchCV(model, {"reject_label": ["auto"]} if "reject_label" in model.get_params() else {}, cv=2)


# What holds the estimator: it is fitted inside, and its answers come out.
HOLDERS = {
    "clone": clone,
    "Pipeline": lambda model: make_pipeline("passthrough", model),
    "Pipeline in a Pipeline": lambda model: make_pipeline(make_pipeline("passthrough", model)),
    "GridSearchCV": in_a_search,
    "GridSearchCV of a Pipeline": lambda model: in_a_search(make_pipeline("passthrough", model)),
    "RandomizedSearchCV": lambda model: RandomizedSearchCV(model, {"on_reject": ["label"]}, n_iter=1, cv=2),
}
# What becomes of a fitted one.
COPIES = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "file": lambda model, folder: load(_saved(model, folder / "model.skops")),
    "FrozenEstimator": lambda model, folder: FrozenEstimator(model),
}


def _saved(model, path):
    save(model, path)
    return path


@cache
def plain(position):
    """An estimator fitted to the array itself, by its position in the list."""
    return clone(ESTIMATORS[position]).fit(X, y)


def expected(model):
    fitted = plain(ESTIMATORS.index(model))
    return fitted.predict(X), fitted.decision_function(X)


@pytest.mark.parametrize("table", TABLES)
@every_estimator
def test_the_same_cases_in_any_table_get_the_same_answers(model, table):
    if table == "sparse" and not get_tags(model).input_tags.sparse:
        pytest.skip("it takes no sparse cases")
    cases = TABLES[table](X)
    fitted = clone(model).fit(cases, y)
    answers, scores = expected(model)
    # Sums in another order send a solver another way, to an optimum up to its tolerance.
    rounding = 1e-4 if table == "float32" else 1e-9
    atol = max(rounding, 3 * getattr(model, "tol", 0.0)) * np.abs(scores).max()
    np.testing.assert_allclose(fitted.decision_function(cases), scores, rtol=0, atol=atol)
    certain = np.abs(getattr(fitted, "score_samples", fitted.decision_function)(cases)) > 2 * atol
    assert certain.mean() > 0.6  # training cases may be on the edge of a region
    np.testing.assert_array_equal(fitted.predict(cases)[certain], answers[certain])
    if isinstance(cases, pd.DataFrame | pl.DataFrame):
        assert fitted.feature_names_in_.tolist() == NAMES


@may_reject_all
@pytest.mark.parametrize("holder", HOLDERS)
@each(REJECTING)
def test_rejections_come_out_of_every_holder(model, holder):
    held = HOLDERS[holder](clone(model)).fit(X, y)
    answers, scores = expected(model)
    assert -1 in answers
    np.testing.assert_array_equal(held.predict(X), answers)
    np.testing.assert_allclose(held.decision_function(X), scores)
    decisions = decide(held, X)
    np.testing.assert_array_equal(decisions.label, answers)
    np.testing.assert_array_equal(is_rejected(answers, held), decisions.rejected)
    np.testing.assert_array_equal(held.score_samples(X) > 0, decisions.accepted)


@pytest.mark.parametrize("copy", COPIES)
@every_estimator
def test_a_copy_answers_alike(model, copy, tmp_path):
    fitted = COPIES[copy](plain(ESTIMATORS.index(model)), tmp_path)
    answers, scores = expected(model)
    np.testing.assert_array_equal(fitted.predict(X), answers)
    np.testing.assert_allclose(fitted.decision_function(X), scores)


@may_reject_all
@each(REJECTING)
def test_rejections_come_out_of_folds_and_parts(model):
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    decisions = cross_val_decide(model, X, y, cv=folds)
    assert decisions.rejected.any()
    np.testing.assert_array_equal(cross_val_predict(model, X, y, cv=folds), decisions.label)
    fitted = plain(ESTIMATORS.index(model))
    parts = [fitted.decide(X[start : start + 50], reasons=False) for start in range(0, len(X), 50)]
    np.testing.assert_array_equal(Decisions.concatenate(parts).label, fitted.predict(X))
