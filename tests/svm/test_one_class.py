"""CoupledOneClassSVC: decisions, scenarios, invariances, input of every form, what it says and what it refuses."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, CoupledOneClassSVC
from recuse.baselines import IndependentOneClassSVC
from recuse.datasets import make_gaussian_classes

SKEWED = Costs(fp=1, fn=4, reject_negative=0.2, reject_positive=0.5)
PAIRS = [CoupledOneClassSVC, IndependentOneClassSVC]


@pytest.fixture(scope="module")
def clouds():
    """Two overlapping clouds, and cases far from both."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-1, 1, size=(90, 2)), rng.normal(1, 1, size=(60, 2))])
    return X, np.repeat([0, 1], [90, 60])


def regions(model, X):
    """f- and f+ from the fitted attributes alone."""
    K = rbf_kernel(X, model.support_vectors_, gamma=model._kernel.gamma)
    return K @ model.dual_coef_.T + model.intercept_


def test_decision_12(clouds):
    X, y = clouds
    model = CoupledOneClassSVC(gamma=0.5).fit(X, y)
    cases = np.random.default_rng(1).uniform(-6, 6, size=(400, 2))
    f = regions(model, cases)
    table = model.decide(cases)
    expected = np.where(f[:, 1] > 0, np.where(f[:, 0] > 0, "ambiguity", "1"), np.where(f[:, 0] > 0, "0", "novelty"))
    found = np.where(table.accepted, table.label.astype(str), table.kind)
    np.testing.assert_array_equal(found, expected)
    assert set(expected) == {"0", "1", "ambiguity", "novelty"}
    np.testing.assert_allclose(model.decision_function(cases), f[:, 1] - f[:, 0])
    np.testing.assert_array_equal(model.score_samples(cases) > 0, (f > 0).sum(axis=1) == 1)
    np.testing.assert_array_equal(model.predict(cases), np.where(table.accepted, table.forced, -1))
    assert model.rho_ >= 0


@pytest.mark.parametrize("n", [60, 300, 700])
@pytest.mark.parametrize("C", [0, 1, 100])
def test_no_more_than_a_share_nu_of_the_training_cases_is_outside(n, C):
    """Support vectors on the edge of their region are inside it, of whatever size and precision the problem is."""
    X, y = make_gaussian_classes(n, 2, separation=4, random_state=0)
    model = CoupledOneClassSVC(C=C, gamma=0.5, nu_positive=0.05, nu_negative=0.1).fit(X, y)
    kinds = model.decide(X, reasons=False).kind
    f = regions(model, X)
    for code, nu in ((0, 0.1), (1, 0.05)):
        assert np.mean(kinds[y == code] == "novelty") <= nu
        if n < 500:  # where the solver works to the last digits, there are many on the edge
            assert np.mean(np.abs(f[y == code, code]) < 1e-9) > nu


def test_the_edge_of_a_region_is_inside():
    from recuse.svm.coupled.regions import evaluate_regions

    F = np.array([[-1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [1.0, 0.0], [-1.0, -2.0]])
    found = evaluate_regions(F, (0.0, 0.0), "both")
    np.testing.assert_array_equal(found.answers(), [1, 0, 2, 2, 3])
    np.testing.assert_array_equal(found.r > 0, [True, True, False, False, False])
    np.testing.assert_array_equal(evaluate_regions(F, (0.0, 0.0), "ambiguity").answers(), [1, 0, 2, 2, 0])
    np.testing.assert_array_equal(evaluate_regions(F, (0.0, 0.0), "none").answers(), [1, 0, 0, 0, 0])


@pytest.mark.parametrize("pair", PAIRS)
def test_scenarios(clouds, pair):
    X, y = clouds
    model = pair(gamma=0.5, nu_positive=0.2).fit(X, y)
    cases = np.random.default_rng(1).uniform(-6, 6, size=(400, 2))
    both = model.decide(cases)
    raw = model.set_params(rejection="none").decision_function(cases)
    assert model.decide(cases).accepted.all()
    np.testing.assert_array_equal(model.predict(cases), (raw > 0).astype(int))
    ambiguity = model.set_params(rejection="ambiguity").decide(cases)
    np.testing.assert_array_equal(ambiguity.kind == "ambiguity", both.kind == "ambiguity")
    assert not (ambiguity.kind == "novelty").any()
    np.testing.assert_array_equal(ambiguity.label[both.accepted], both.label[both.accepted])
    novel = both.kind == "novelty"
    np.testing.assert_array_equal(ambiguity.label[novel], (raw[novel] > 0).astype(int))


@pytest.mark.parametrize("pair", PAIRS)
def test_reasons(clouds, pair):
    X, y = clouds
    names = np.array(["no", "yes"])[y]
    model = pair(gamma=0.5).fit(X, names)
    table = model.decide(np.vstack([X, [[9.0, 9.0]]]))
    by_kind = {kind: table.reason[table.kind == kind] for kind in ("accept", "ambiguity", "novelty")}
    assert by_kind["ambiguity"][0].startswith("inside both class regions: ")
    assert all(text.startswith("inside the region of ") for text in by_kind["accept"])
    text = table.reason[-1]
    assert text.startswith("outside both class regions: ")
    nearest = text.split("nearest training cases: ")[1].split(", ")
    assert len(nearest) == 3
    # The nearest of those that shape the regions; far away the kernel has vanished, the order has not.
    closest = model.support_[((X[model.support_] - 9.0) ** 2).sum(axis=1).argmin()]
    assert nearest[0] == f"{closest} ({str(names[closest])!r})"
    assert (model.decide(X, reasons=False).reason == "").all()
    never = model.set_params(rejection="none").decide(X)
    assert any("the score of 'yes' is higher" in text for text in never.reason)


def test_without_coupling_it_is_the_independent_pair(clouds):
    X, y = clouds
    options = {"gamma": 0.4, "nu_positive": 0.3, "nu_negative": 0.1}
    one = CoupledOneClassSVC(C=0, tol=1e-10, **options).fit(X, y)
    other = IndependentOneClassSVC(tol=1e-9, **options).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(one.score_samples(X), other.score_samples(X), atol=1e-6)
    assert one.rho_positive_ == pytest.approx(other.rho_positive_, abs=1e-6)
    assert one.rho_ == 0


def test_the_coupling_moves_cases_to_their_side(clouds):
    """The coupled terms of the objective are smaller than those of the independent pair."""
    X, y = clouds
    signs = np.where(y == 1, 1, -1)
    apart = [
        np.maximum(-signs * CoupledOneClassSVC(C=C, gamma=0.5, rejection="none").fit(X, y).decision_function(X), 0)
        for C in (0, 1, 100)
    ]
    assert apart[0].sum() > apart[1].sum() > apart[2].sum()


# Invariances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_weights_are_copies(clouds, kernel, pair):
    X, y = clouds
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    model = pair(SKEWED, kernel=kernel, coef0=1.0, nu_positive=0.2, tol=1e-9)
    weighted = model.fit(X, y, sample_weight=counts).decision_function(X)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5 * np.abs(repeated).max())


def test_order_and_scale_of_weights(clouds):
    X, y = clouds
    base = CoupledOneClassSVC(SKEWED, gamma=0.5, tol=1e-9).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    moved = CoupledOneClassSVC(SKEWED, gamma=0.5, tol=1e-9).fit(X[order], y[order], np.full(len(y), 7.0))
    assert moved.objective_ == pytest.approx(base.objective_, rel=1e-7)
    np.testing.assert_allclose(base.decision_function(X), moved.decision_function(X), atol=1e-6)
    assert (np.diff(base.support_) > 0).all()


@pytest.mark.parametrize("rejection", ["both", "ambiguity", "none"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n", [60, 300, 700])
@pytest.mark.parametrize("pair", PAIRS)
def test_cases_on_an_edge_are_decided_alike_whichever_class_is_called_positive(pair, n, kernel, rejection):
    """Many training cases lie on the edge of a region up to rounding, where a hair decides."""
    X, y = make_gaussian_classes(n, 2, separation=3, random_state=n)
    X[-n // 6 :] = X[: -(-n // 6)]  # duplicates, some of the other class
    options = {"gamma": 0.5, "kernel": kernel, "rejection": rejection}
    one = pair(SKEWED, nu_positive=0.2, nu_negative=0.05, **options).fit(X, y).decide(X, reasons=False)
    mirrored = pair(SKEWED.swapped(), nu_positive=0.05, nu_negative=0.2, **options)
    renamed = mirrored.fit(X, 1 - y).decide(X, reasons=False)
    np.testing.assert_array_equal(renamed.kind, one.kind)
    np.testing.assert_array_equal(renamed.forced, 1 - one.forced)
    np.testing.assert_allclose(renamed.h, -one.h, rtol=1e-9, atol=1e-12)
    named = mirrored.set_params(pos_label=0).fit(X, y).decide(X, reasons=False)
    np.testing.assert_array_equal(named.kind, one.kind)
    np.testing.assert_array_equal(named.forced, one.forced)


@pytest.mark.parametrize("pair", PAIRS)
def test_swapped_classes_swap_everything(clouds, pair):
    X, y = clouds
    options = {"gamma": 0.5, "tol": 1e-8}
    one = pair(SKEWED, nu_positive=0.2, nu_negative=0.05, **options).fit(X, y)
    other = pair(SKEWED.swapped(), nu_positive=0.05, nu_negative=0.2, **options).fit(X, 1 - y)
    np.testing.assert_allclose(one.decision_function(X), -other.decision_function(X), atol=1e-6)
    assert one.rho_positive_ == pytest.approx(other.rho_negative_, abs=1e-6)
    named = pair(SKEWED.swapped(), nu_positive=0.05, nu_negative=0.2, pos_label=0, **options).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), named.decision_function(X), atol=1e-6)
    assert named.rho_positive_ == pytest.approx(one.rho_negative_, abs=1e-6)
    assert one.score(X, y) == pytest.approx(named.score(X, y))


# Input --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_sparse_precomputed_and_function_kernels_agree(clouds, pair):
    X, y = clouds
    options = {"nu_positive": 0.2, "tol": 1e-8}
    plain = pair(gamma=0.5, **options).fit(X, y)
    cases = np.vstack([X[:20], [[8.0, 8.0], [-7.0, 0.0]]])
    thin = pair(gamma=0.5, **options).fit(sparse.csr_matrix(X), y)
    K = pair(kernel="precomputed", **options).fit(rbf_kernel(X, gamma=0.5), y)
    function = pair(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), **options).fit(X, y)
    expected = plain.decision_function(cases)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(cases)), expected, atol=1e-5)
    np.testing.assert_allclose(K.decision_function(rbf_kernel(cases, X, gamma=0.5)), expected, atol=1e-5)
    np.testing.assert_allclose(function.decision_function(cases), expected, atol=1e-5)
    for model, given in ((thin, sparse.csr_matrix(cases)), (K, rbf_kernel(cases, X, gamma=0.5)), (function, cases)):
        table = model.decide(given)
        assert (table.kind == plain.decide(cases).kind).all()
        assert "nearest training cases" in table.reason[-1]


def test_pipelines_and_searches(clouds):
    X, y = clouds
    pipe = make_pipeline(StandardScaler(), CoupledOneClassSVC(SKEWED))
    search = GridSearchCV(pipe, {"coupledoneclasssvc__gamma": [0.1, 0.5]}, cv=3).fit(X, y)
    assert len(recuse.decide(search, X)) == len(y)


@pytest.mark.parametrize("pair", PAIRS)
def test_pickle_and_saved_file(clouds, tmp_path, pair):
    X, y = clouds
    model = pair(gamma=0.5).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.score_samples(X), model.score_samples(X))
    recuse.save(model, tmp_path / "model.skops")
    loaded = recuse.load(tmp_path / "model.skops")
    assert list(loaded.decide(X).reason) == list(model.decide(X).reason)


def test_prediction_does_not_load_the_compiler(clouds, tmp_path):
    X, y = clouds
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(CoupledOneClassSVC().fit(X, y)))
    code = (
        f"import pickle, sys; model = pickle.load(open({str(tmp_path / 'model.pkl')!r}, 'rb'));"
        "print(model.decide([[9.0, 9.0]]).kind[0], 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["novelty", "False"]


# What it refuses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu_positive": 0.0}, r"nu_positive must be a number in \(0, 1\]; got 0.0"),
        ({"nu_negative": 1.5}, r"nu_negative must be a number in \(0, 1\]; got 1.5"),
        ({"C": -1}, "C must be a finite number at least 0; got -1"),
        ({"C": np.inf}, "C must be a finite number"),
        ({"C": "large"}, "C must be a finite number"),
        ({"tol": 0}, "tol must be a finite number greater than 0; got 0"),
        ({"max_iter": 0}, "max_iter must be -1"),
        ({"rejection": "novelty"}, "rejection must be one of 'both', 'ambiguity', 'none'; got 'novelty'"),
        ({"nonnegative_rho": "yes"}, "nonnegative_rho must be True or False; got 'yes'"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"gamma": -1}, "gamma must be 'scale', 'auto' or a number greater than 0; got -1"),
        ({"costs": Costs(fp=1, fn=1, reject=1)}, "Rejecting never pays"),  # lambda_R = lambda_E
        ({"costs": 0.6}, "The largest reject price that pays is just below 0.5"),  # rho would be negative
    ],
)
def test_bad_parameters(clouds, parameters, message):
    with pytest.raises(ValueError, match=message):
        CoupledOneClassSVC(**parameters).fit(*clouds)


@pytest.mark.parametrize("pair", PAIRS)
def test_bad_data(clouds, pair):
    X, y = clouds
    with pytest.raises(ValueError, match="one class only"):
        pair().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="leaves one class only"):
        pair().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="must be symmetric"):
        pair(kernel="precomputed").fit(np.triu(np.ones((4, 4))), [0, 0, 1, 1])
    model = pair(gamma=0.5).fit(X, y)
    with pytest.raises(ValueError, match="rejection must be one of"):
        model.set_params(rejection="some").predict(X)


def test_prices_at_which_the_band_is_negative_are_allowed_by_class(clouds):
    """Rejecting pays, yet a negative error costs less than two rejections: rho may be negative, decisions ignore it."""
    X, y = clouds
    costs = Costs(fp=1, fn=10, reject_negative=0.8, reject_positive=0.5)
    assert costs.rejecting_pays
    model = CoupledOneClassSVC(costs, gamma=0.5, tol=1e-8).fit(X, y)
    assert model.residual_ <= 1e-8


def test_unfinished_fits_say_so(clouds):
    with pytest.warns(ConvergenceWarning, match=r"stopped after 5 steps with residual_=.* > tol=0.0001"):
        model = CoupledOneClassSVC(max_iter=5).fit(*clouds)
    assert model.n_iter_ == 5
    assert model.residual_ > 1e-4


@pytest.mark.parametrize("n", [40, 300])
def test_small_regions_of_single_cases(n):
    """A class with one case, and nu below 1 / N."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), (np.arange(n) == 0).astype(int)
    model = CoupledOneClassSVC(nu_positive=1e-6, nu_negative=1e-6, gamma=1.0).fit(X, y)
    assert model.residual_ <= 1e-4
    F = regions(model, X)
    assert (F[1:, 0] >= -1e-3).all()  # nobody is left outside
