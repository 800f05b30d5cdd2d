"""Kernel machines of three or more classes: each class against the rest, on kernel rows that all of them share."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, DoubleHingeSVC, DoubleRampSVC, RejectedSamplesError, ThresholdRejectClassifier
from recuse.one_versus_rest import against_the_rest
from recuse.svm import double_hinge_path
from recuse.svm.kernels import Kernel
from recuse.svm.rows import LastingRows, MatrixRows, kernel_source

from .conic import conic_solution, primal
from .problems import KernelProblem

PRICES = Costs(errors=[[0, 1, 1], [1, 0, 2], [1, 5, 0]], reject=[0.3, 0.2, 0.4])
# One answer that costs less than a review: its machine counts that class among the positives.
HARMLESS = Costs(errors=[[0, 1, 0.1], [1, 0, 2], [1, 5, 0]], reject=[0.3, 0.2, 0.4])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :5], y


MACHINES = {
    "double hinge": DoubleHingeSVC(0.2, C=10, tol=1e-6),
    "active set": DoubleHingeSVC(0.2, C=10, tol=1e-6, solver="active_set"),
    "linear": DoubleHingeSVC(0.2, C=10, kernel="linear", tol=1e-6),
    "Bartlett and Wegkamp": DoubleHingeSVC(0.2, C=10, rule="bartlett_wegkamp", tol=1e-6),
    "double ramp": DoubleRampSVC(0.2),
    "double ramp, l2": DoubleRampSVC(0.2, penalty="l2"),
}
every_machine = pytest.mark.parametrize("model", MACHINES.values(), ids=list(MACHINES))


@every_machine
def test_each_machine_is_that_of_two_classes(model, wine):
    X, y = wine
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    several = clone(model).fit(X, y, weights)
    for k in range(3):
        two = clone(model).fit(X, (y == k).astype(int), weights)
        assert several.objectives_[k] == pytest.approx(two.objective_, rel=1e-6)
        np.testing.assert_allclose(several._score(X)[:, k], two._score(X), atol=1e-5)
        np.testing.assert_allclose(several.thresholds_[k], two.thresholds_)
    assert several.objective_ == pytest.approx(several.objectives_.sum())
    assert several.residual_ == several.residuals_.max()


@pytest.mark.parametrize("costs", [PRICES, HARMLESS], ids=["prices", "harmless"])
@every_machine
def test_at_prices_by_class_each_machine_has_weighted_sides(model, costs, wine):
    if getattr(model, "rule", None) == "bartlett_wegkamp":
        pytest.skip("defined for equal prices")
    X, y = wine
    model = clone(model).set_params(costs=costs, gamma=0.1)
    several = clone(model).fit(X, y)
    shares = np.bincount(y) / len(y)
    for k, problem in enumerate(against_the_rest(costs, shares)):
        two = clone(model).set_params(costs=problem.costs)
        two.fit(X, problem.positive[y].astype(int), problem.factors[y])
        unit = problem.costs.cheaper_error
        scale = 1 if isinstance(model, DoubleRampSVC) else several.objectives_[k]
        assert several.objectives_[k] / scale == pytest.approx(two.objective_ / scale, rel=1e-5, abs=1e-9 * unit)
    assert set(several.decide(X).kind) <= {"accept", "ambiguity"}


@pytest.mark.parametrize("seed", range(4))
def test_against_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    n = 30
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 3
    X[:, 0] += y
    costs = (Costs(reject=0.2), PRICES, HARMLESS, Costs(reject=0.6))[seed]
    C = 10.0 ** rng.uniform(-1, 2)
    model = DoubleHingeSVC(costs, C=C, gamma=0.5, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some reject every case
        model.fit(X, y)
    total = 0.0
    for k, problem in enumerate(against_the_rest(costs, np.bincount(y).astype(float))):
        signs = np.where(problem.positive[y], 1.0, -1.0)
        case = KernelProblem("rbf", X, signs, problem.costs, C, problem.factors[y])
        least = conic_solution(case)[0]
        beta = np.zeros(n)
        beta[model.support_] = model.dual_coef_[k]
        g = case.gram @ beta
        reached = primal(case, g, 0.5 * beta @ g, model.intercept_[k])
        assert reached == pytest.approx(least, rel=1e-6)
        assert model.objectives_[k] == pytest.approx(least, rel=1e-6)
        total += least
    assert model.objective_ == pytest.approx(total, rel=1e-6)


def test_rows_are_computed_once_for_all_classes(monkeypatch):
    X, y = make_blobs(400, centers=5, n_features=3, cluster_std=3.0, random_state=0)
    computed = []
    load = LastingRows._load

    def counted(rows, ids):
        computed.extend(ids.tolist())
        return load(rows, ids)

    monkeypatch.setattr(LastingRows, "_load", counted)

    def source(X, kernel, *, cache_bytes, tol, several=False):
        assert several
        rows = LastingRows(X, kernel, budget=len(X) ** 2 * 4)
        rows.diagonal = np.ones(len(X))
        return rows

    whole = DoubleHingeSVC(C=10, gamma=0.2).fit(X, y)
    monkeypatch.setattr("recuse.svm.qp.solvers.kernel_source", source)
    model = DoubleHingeSVC(C=10, gamma=0.2).fit(X, y)
    assert len(computed) == len(set(computed)) > 100
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_rows_last_where_the_matrix_is_not_held():
    X = np.random.default_rng(0).normal(size=(2500, 2))
    kernel = Kernel("rbf", 0.5)
    options = {"cache_bytes": 2**20, "tol": 1e-3}
    assert isinstance(kernel_source(X, kernel, several=True, **options), LastingRows)
    assert not isinstance(kernel_source(X, kernel, **options), LastingRows)
    assert isinstance(kernel_source(X[:2000], kernel, several=True, **options), MatrixRows)


def test_lasting_rows_serve_a_shrunk_program():
    X = np.random.default_rng(0).normal(size=(60, 2))
    kernel = Kernel("rbf", 0.5)
    K = kernel(X, X)
    rows = LastingRows(X, kernel, budget=20 * 60 * 8, dtype=np.float64)
    for columns in (np.arange(0, 60, 3), np.arange(5, 50)):
        g = np.zeros(len(columns))
        rows.keep(columns)
        rows.add(np.array([0, 2, 7]), np.array([1.0, -2.0, 0.5]), g)
        np.testing.assert_allclose(g, K[columns][:, columns[[0, 2, 7]]] @ [1.0, -2.0, 0.5])
        block = np.array([0, 1, 2, 9])  # two of its rows are in the cache
        np.testing.assert_allclose(rows.square(block), K[np.ix_(columns[block], columns[block])])
        rows.reset()
    g = np.zeros(60)
    rows.add(np.arange(40), np.ones(40), g)  # more rows than the cache has room for
    np.testing.assert_allclose(g, K[:, :40].sum(axis=1))


def test_at_dear_reviews_the_most_probable_class_is_answered(wine):
    X, y = wine
    model = DoubleHingeSVC(0.6, C=10).fit(X, y)  # more than half an error, less than two thirds
    decisions = model.decide(X)
    assert decisions.accepted.mean() > 0.95
    assert (decisions.forced == y).mean() > 0.9
    with pytest.raises(ValueError, match="with 3 classes: answering never costs more"):
        DoubleHingeSVC(0.7).fit(X, y)


@every_machine
def test_a_weight_of_two_is_a_repeated_case_and_of_zero_none(model, wine):
    X, y = wine
    weights = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    model = clone(model).set_params(gamma=0.1)
    weighted = clone(model).fit(X, y, weights)
    repeated = clone(model).fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    if isinstance(model, DoubleRampSVC):  # not convex: what it reaches, and whether it is the same problem
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=0.02)
    else:
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


def test_sparse_precomputed_and_frames_give_the_same(wine):
    X, y = wine
    names = np.array(["one", "two", "three"])[y]
    model = DoubleHingeSVC(PRICES, C=10, gamma=0.1).fit(X, names)
    scores = model.decision_function(X)
    by_sparse = clone(model).fit(sparse.csr_matrix(X), names)
    np.testing.assert_allclose(by_sparse.decision_function(sparse.csr_matrix(X)), scores, atol=1e-6)
    K = rbf_kernel(X, gamma=0.1)
    by_matrix = clone(model).set_params(kernel="precomputed").fit(K, names)
    np.testing.assert_allclose(by_matrix.decision_function(K), scores, atol=1e-6)
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(len(X)) + 7)
    by_frame = clone(model).fit(frame, names)
    assert by_frame.feature_names_in_.tolist() == list("abcde")
    assert by_frame.decide(frame).index[0] == 7


def test_a_linear_kernel_has_weights_for_each_class(wine):
    X, y = wine
    model = DoubleHingeSVC(kernel="linear", C=1).fit(X, y)
    assert model.coef_.shape == (3, 5)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9)


def test_answers_do_not_depend_on_the_batch(wine):
    X, y = wine
    for model in (DoubleHingeSVC(PRICES, C=10), DoubleRampSVC(PRICES), DoubleHingeSVC(PRICES, kernel="linear")):
        model.fit(X, y)
        for case in range(0, len(X), 20):  # a threshold on the score of a case
            f = float(model._score(X[case : case + 1])[0, 1])
            model.thresholds_[1] = (f - 1, f)
            together = model.predict(X)
            assert [model.predict(X[i : i + 1])[0] for i in range(case, len(X), 40)] == together[case::40].tolist()


def test_decisions_name_two_classes_and_what_confusing_them_costs(wine):
    X, y = wine
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    costs = Costs(
        errors={
            "barolo": {"grignolino": 1, "barbera": 1},
            "grignolino": {"barolo": 1, "barbera": 2},
            "barbera": {"barolo": 1, "grignolino": 5},
        },
        reject=0.3,
    )
    model = DoubleHingeSVC(costs, C=3).fit(X, names)
    decisions = model.decide(X)
    assert 0 < decisions.accepted.sum() < len(X)
    rejected = decisions[~decisions.accepted]
    assert all("confusing them costs" in reason for reason in rejected.reason)
    assert all(f"either {case.forced!r}" in case.reason and repr(case.second) in case.reason for case in rejected)
    accepted = decisions[decisions.accepted]
    assert all("its score is above its threshold" in reason for reason in accepted.reason)
    assert (accepted.score > -np.inf).all()
    assert model.score(X, names) > 0.9
    with pytest.raises(RejectedSamplesError):
        clone(model).set_params(on_reject="raise").fit(X, names).predict(X)
    forced = clone(model).set_params(on_reject="never").fit(X, names).predict(X)
    np.testing.assert_array_equal(forced, decisions.forced)


@pytest.mark.parametrize("model", [DoubleHingeSVC(PRICES, C=10), DoubleRampSVC(PRICES)], ids=["hinge", "ramp"])
def test_saving_and_pickling(model, wine, tmp_path):
    X, y = wine
    model = clone(model).fit(X, y)
    recuse.save(model, tmp_path / "model.recuse")
    for copy in (pickle.loads(pickle.dumps(model)), recuse.load(tmp_path / "model.recuse")):
        assert copy.decide(X) == model.decide(X)


def test_pipelines_searches_and_calibration(wine):
    X, y = wine
    search = GridSearchCV(make_pipeline(StandardScaler(), DoubleHingeSVC(0.2)), {"doublehingesvc__C": [0.01, 10]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at C = 0.01 every case is rejected
        search.fit(X, y)
    assert search.best_params_ == {"doublehingesvc__C": 10}
    assert recuse.decide(search, X).accepted.mean() > 0.5
    calibrated = ThresholdRejectClassifier(DoubleHingeSVC(0.2, C=10), costs=PRICES, calibration="temperature")
    assert calibrated.fit(X, y).score(X, y) > 0.9


def test_a_new_fit_leaves_nothing_of_the_last(wine):
    X, y = wine
    one = (y == 1).astype(int)
    several, two = DoubleHingeSVC(C=10).fit(X, y), DoubleHingeSVC(C=10).fit(X, one)
    ramps = DoubleRampSVC().fit(X, y), DoubleRampSVC().fit(X, one)
    for first, other in ((several, two), ramps):
        of_several, of_two = set(vars(first)), set(vars(other))
        assert set(vars(clone(first).fit(X, y).fit(X, one))) == of_two
        assert set(vars(clone(first).fit(X, one).fit(X, y))) == of_several


def test_class_weights(wine):
    X, y = wine
    balanced = DoubleHingeSVC(C=1, class_weight="balanced", gamma=0.1).fit(X, y)
    weights = (len(y) / 3 / np.bincount(y))[y]
    np.testing.assert_allclose(
        balanced.decision_function(X),
        DoubleHingeSVC(C=1, gamma=0.1).fit(X, y, weights).decision_function(X),
        atol=1e-6,
    )


@pytest.mark.parametrize("model", [DoubleHingeSVC(C=100), DoubleRampSVC()], ids=["hinge", "ramp"])
def test_a_class_of_one_case_and_one_of_none(model, wine):
    X, y = wine
    rare = np.where(np.arange(len(y)) == 5, 3, y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = clone(model).fit(X, rare)
    assert len(said) == isinstance(model, DoubleRampSVC)  # whose machine of that class always says no
    assert all("in the machine of 3" in str(warning.message) for warning in said)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    decisions = model.decide(X)
    assert decisions.accepted.mean() > 0.5
    assert (decisions.label == rare)[decisions.accepted].mean() > 0.95
    with pytest.raises(ValueError, match="sample_weight leaves no case of class 3"):
        clone(model).fit(X, rare, (rare != 3).astype(float))


def test_two_hundred_classes():
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 100, size=(200, 2))
    X = np.repeat(centres, 3, axis=0) + rng.normal(0, 0.05, size=(600, 2))
    y = np.repeat(np.arange(200), 3)
    model = DoubleHingeSVC(0.3, C=100, gamma=0.5).fit(X, y)
    answers = model.predict(X)
    assert (answers == y).mean() > 0.8
    assert ((answers != y) & (answers >= 0)).mean() < 0.02


def test_what_knows_two_classes_only_says_so(wine):
    X, y = wine
    with pytest.raises(ValueError, match="Only binary classification"):
        double_hinge_path(X, y, Cs=[1.0])
    with pytest.raises(ValueError, match="names one of two classes"):
        DoubleHingeSVC(pos_label=1).fit(X, y)
    with pytest.raises(ValueError, match="contributions are told for two classes"):
        recuse.contributions(DoubleHingeSVC(kernel="linear").fit(X, y), X)
