"""One-class machines of three or more classes: a region for each, coupled with the rest."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, CoupledOneClassSVC
from recuse.baselines import IndependentOneClassSVC
from recuse.svm.coupled.regions import evaluate_several_regions
from recuse.svm.kernels import Kernel
from recuse.svm.rows import MatrixRows, ReorderedRows, reordered

from .coupled_conic import CoupledProblem, conic_solution

PRICES = Costs(errors=[[0, 1, 1], [1, 0, 2], [1, 5, 0]], reject=[0.3, 0.2, 0.4])


@dataclass
class AgainstRest(CoupledProblem):
    """The program of one class, with prices of each case."""

    reject: np.ndarray = None
    error: np.ndarray = None
    largest: float = 1.0

    @property
    def bounds(self):
        positive, w = self.y > 0, self.weights
        own = np.where(positive, self.nu_positive * w[positive].sum(), self.nu_negative * w[~positive].sum())
        share = self.C * w / w.sum() / self.largest
        return w / own, share * self.reject, share * np.maximum(self.error - self.reject, 0)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :6], y


@pytest.mark.parametrize("C", [0.0, 1.0, 30.0])
def test_each_region_is_that_of_two_classes(C, wine):
    X, y = wine
    model = CoupledOneClassSVC(0.25, C=C, gamma=0.1, nu_positive=0.1, nu_negative=0.2, tol=1e-8)
    several = clone(model).fit(X, y)
    for k in range(3):
        two = clone(model).fit(X, (y == k).astype(int))
        assert several.objectives_[k] == pytest.approx(two.objective_, rel=1e-6)
        assert -several.intercept_[k] == pytest.approx(two.rho_positive_, abs=1e-5)
        np.testing.assert_allclose(several._scores(X)[:, k], two._scores(X)[:, 1], atol=1e-5)
    assert several.objective_ == pytest.approx(several.objectives_.sum())
    assert several.residual_ == several.residuals_.max() <= 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_against_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    n = 33
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 3
    X[:, 0] += 1.5 * y
    weights = rng.choice([0.5, 1.0, 2.0], size=n)
    model = CoupledOneClassSVC(PRICES, C=10.0**seed, nu_positive=0.2, nu_negative=0.3, gamma=0.5, tol=1e-9)
    model.fit(X, y, weights)
    errors, reject = np.array(PRICES.errors), np.array(PRICES.reject)
    for k in range(3):
        shares = np.bincount(y, weights) * (np.arange(3) != k)
        error = np.where(y == k, errors[k] @ shares / shares.sum(), errors[y, k])
        facts = {"nu_negative": 0.3, "nu_positive": 0.2, "reject": reject[y], "error": error, "largest": 5.0}
        case = AgainstRest("rbf", X, np.where(y == k, 1.0, -1.0), None, 10.0**seed, weights, **facts)
        least, F = conic_solution(case)[:2]
        assert model.objectives_[k] == pytest.approx(least, rel=1e-6, abs=1e-8)
        np.testing.assert_allclose(model._scores(X)[:, k], np.asarray(F)[:, 1], atol=1e-4)


def test_without_coupling_the_machines_are_independent(wine):
    X, y = wine
    coupled = CoupledOneClassSVC(C=0, gamma=0.1, nu_positive=0.1, tol=1e-9).fit(X, y)
    independent = IndependentOneClassSVC(gamma=0.1, nu_positive=0.1, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(coupled._scores(X), independent._scores(X), atol=1e-5)
    np.testing.assert_allclose(coupled.intercept_, independent.intercept_, atol=1e-5)


def test_answers_by_where_a_case_lies():
    F = np.array([[1.0, -1, -2], [-1, 2, -1], [1, 1.5, -1], [-1, -2, -0.5], [1, 2, 3]])
    both = evaluate_several_regions(F, np.zeros(3), "both")
    assert both.kinds().tolist() == [0, 0, 1, 2, 1]
    assert both.forced().tolist() == [0, 1, 1, 2, 2]
    ambiguity = evaluate_several_regions(F, np.zeros(3), "ambiguity")
    assert ambiguity.kinds().tolist() == [0, 0, 1, 0, 1]
    none = evaluate_several_regions(F, np.zeros(3), "none")
    assert none.accepted.all()
    assert none.forced().tolist() == [0, 1, 1, 2, 2]


def test_rows_in_another_order():
    X = np.random.default_rng(0).normal(size=(40, 2))
    K, order = Kernel("rbf", 0.5)(X, X), np.random.default_rng(1).permutation(40)
    expected = K[np.ix_(order, order)]
    assert isinstance(reordered(MatrixRows(K), order), MatrixRows)
    rows = ReorderedRows(MatrixRows(K), order)
    np.testing.assert_array_equal(rows.diagonal, expected.diagonal())
    for active in (np.arange(40), np.arange(3, 30, 2)):
        rows.keep(active)
        g = np.ones(len(active))
        rows.add(np.array([1, 5]), np.array([2.0, -1.0]), g)
        np.testing.assert_allclose(g, 1 + expected[active][:, active[[1, 5]]] @ [2, -1])
        np.testing.assert_allclose(rows.square(np.array([2, 4])), expected[np.ix_(active[[2, 4]], active[[2, 4]])])
        rows.reset()
    beta = np.random.default_rng(2).normal(size=(40, 2))
    np.testing.assert_allclose(rows.scores(beta), expected @ beta)
    np.testing.assert_allclose(rows.product(np.arange(4), np.arange(9, 12), beta[:3]), expected[:4, 9:12] @ beta[:3])
    np.testing.assert_allclose(rows.exact_square(np.arange(5)), expected[:5, :5])
    np.testing.assert_allclose(rows.row(7), expected[7])


@pytest.mark.parametrize("cache_size", [0.2, 200])
def test_rows_on_demand_give_the_same_regions(cache_size):
    X, y = make_blobs(900, centers=4, n_features=3, cluster_std=2.5, random_state=0)
    whole = CoupledOneClassSVC(gamma=0.1, tol=1e-7).fit(X, y)
    model = CoupledOneClassSVC(gamma=0.1, tol=1e-5, cache_size=cache_size).fit(X, y)
    assert model.residual_ <= 1e-5
    np.testing.assert_allclose(model.objectives_, whole.objectives_, rtol=1e-4)
    np.testing.assert_allclose(model._scores(X), whole._scores(X), atol=1e-3)


@pytest.mark.parametrize(
    "model", [CoupledOneClassSVC(gamma=0.1), IndependentOneClassSVC(gamma=0.1)], ids=["coupled", "two"]
)
def test_decisions_and_what_a_person_reads(model, wine, tmp_path):
    X, y = wine
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    model = clone(model).set_params(costs=0.3).fit(X, names)
    decisions = model.decide(np.vstack([X, X[:2] + 20]))
    assert {"accept", "ambiguity", "novelty"} == set(decisions.kind)
    assert decisions.kind[-2:].tolist() == ["novelty", "novelty"]
    words = {"accept": "outside all others", "ambiguity": "confusing them costs 1", "novelty": "nearest training cases"}
    for kind, said in words.items():
        assert all(said in reason for reason in decisions.reason[decisions.kind == kind])
    accepted = decisions[:-2][decisions[:-2].accepted]
    assert (accepted.label == names[decisions[:-2].accepted]).mean() > 0.9
    assert (decisions.second != decisions.forced).all()
    recuse.save(model, tmp_path / "model.recuse")
    for copy in (pickle.loads(pickle.dumps(model)), recuse.load(tmp_path / "model.recuse")):
        assert copy.decide(X) == model.decide(X)
    for i in range(0, len(X), 15):
        assert model.predict(X[i : i + 1])[0] == decisions.label[i]
    forced = clone(model).set_params(on_reject="never").fit(X, names)
    np.testing.assert_array_equal(forced.predict(X), decisions.forced[:-2])


@pytest.mark.parametrize("rejection", ["ambiguity", "none"])
def test_fewer_rejections_on_demand(rejection, wine):
    X, y = wine
    decisions = CoupledOneClassSVC(gamma=0.1, rejection=rejection).fit(X, y).decide(np.vstack([X, X[:1] + 9]))
    assert decisions.accepted[-1]
    assert decisions.accepted.all() == (rejection == "none")
    assert set(decisions.kind) <= {"accept", "ambiguity"}


def test_weights_sparse_and_precomputed(wine):
    X, y = wine
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = CoupledOneClassSVC(PRICES, gamma=0.1, tol=1e-9)
    scores = clone(model).fit(X, y, weights).decision_function(X)
    count = weights.astype(int)
    repeated = clone(model).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(repeated.decision_function(X), scores, atol=1e-5)
    by_sparse = clone(model).fit(sparse.csr_matrix(X), y, weights)
    np.testing.assert_allclose(by_sparse.decision_function(sparse.csr_matrix(X)), scores, atol=1e-5)
    K = rbf_kernel(X, gamma=0.1)
    by_matrix = clone(model).set_params(kernel="precomputed").fit(K, y, weights)
    np.testing.assert_allclose(by_matrix.decision_function(K), scores, atol=1e-5)


def test_a_class_of_one_case_and_a_new_fit(wine):
    X, y = wine
    rare = np.where(np.arange(len(y)) == 5, 3, y)
    model = CoupledOneClassSVC(gamma=0.1).fit(X, rare)
    assert model.decision_function(X).shape == (len(X), 4)
    two = CoupledOneClassSVC(gamma=0.1).fit(X, (y == 1).astype(int))
    assert set(vars(clone(model).fit(X, y).fit(X, (y == 1).astype(int)))) == set(vars(two))
    assert set(vars(clone(two).fit(X, (y == 1).astype(int)).fit(X, rare))) == set(vars(model))
    with pytest.raises(ValueError, match="no case of class 3"):
        CoupledOneClassSVC().fit(X, rare, (rare != 3).astype(float))


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 30, size=(60, 2))
    X, y = np.repeat(centres, 4, axis=0) + rng.normal(0, 0.03, size=(240, 2)), np.repeat(np.arange(60), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = CoupledOneClassSVC(gamma=1.0).fit(X, y).predict(X)
    assert ((answers != y) & (answers >= 0)).mean() < 0.02
    assert (answers == y).mean() > 0.5
