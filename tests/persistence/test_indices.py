"""Hostile files: indices that would lead compiled code astray."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from recuse.persistence import load, save

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, :6], Y[:200]


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
