"""DoubleHingeSVC: limits that are known, invariances, input of every form, what it says and what it refuses."""

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
from sklearn.svm import SVC

import recuse
from recuse import Costs, DoubleHingeSVC, DoubleRampSVC, ThresholdRejectClassifier
from recuse.metrics import expected_cost
from recuse.svm import losses
from tests.marks import may_reject_all

from .hinges import bartlett_wegkamp

SKEWED = Costs(fp=1, fn=4, reject_negative=0.2, reject_positive=0.5)


def score(model, X):
    return model.decision_function(X) + model.break_even_


# Limits -------------------------------------------------------------------------------------------------------------


@may_reject_all
@pytest.mark.parametrize(("share", "which"), [(0.02, 0), (0.3, 1), (0.9, 2)])
def test_without_weight_on_the_losses_the_score_is_constant(share, which):
    """C -> 0: f_1, f_2 or f_3 as the positive rate is below p_-, between, or above p_+."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) < 200 * share
    costs = Costs(fp=1, fn=4, reject=0.35)
    model = DoubleHingeSVC(costs, C=1e-8).fit(X, y.astype(int))
    np.testing.assert_allclose(score(model, X), losses.bends(costs)[which], atol=1e-4)
    answers = model.predict(X)
    assert set(answers) == ({0}, {-1}, {1})[which]


@pytest.mark.parametrize("prices", [(1.0, 1.0), (1.0, 6.0)])
def test_at_the_limit_of_the_reject_price_it_is_the_cost_weighted_svm(overlapping, prices):
    """p_- = p_+ = p: the loss is one hinge, with half-width T around c."""
    X, y = overlapping
    fp, fn = prices
    limit = fp * fn / (fp + fn)
    model = DoubleHingeSVC(Costs(fp=fp, fn=fn, reject=limit * (1 - 1e-9)), C=3.0, gamma=0.5, tol=1e-6).fit(X, y)
    p = fp / (fp + fn)
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    half, centre = entropy * (1 / (1 - p) + 1 / p) / 2, entropy * (1 / (1 - p) - 1 / p) / 2
    weights = {1: (1 - p) / half, 0: p / half}
    svc = SVC(C=3.0, gamma=0.5, class_weight=weights, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(score(model, X), half * svc.decision_function(X) + centre, atol=1e-5)
    assert len(model.support_) == svc.n_support_.sum()


def test_bartlett_and_wegkamps_machine_is_the_same_one_rescaled(overlapping):
    """C_BW = C d^2 / H(d), f = (H(d) / d) f_BW: a dear check of the loss, with their loss given to the solver."""
    from recuse.svm.kernels import Kernel
    from recuse.svm.qp.active_set import solve_active_set
    from recuse.svm.qp.problem import from_hinges
    from recuse.svm.rows import kernel_source

    X, y = overlapping
    d, C = 0.3, 2.0
    entropy = -d * np.log(d) - (1 - d) * np.log(1 - d)
    signs = np.where(y == 1, 1.0, -1.0)
    theirs = from_hinges(bartlett_wegkamp(Costs(reject=d)), signs, np.full(len(y), C * d**2 / entropy))
    rows = kernel_source(X, Kernel("rbf", 0.5), cache_bytes=2**24, tol=1e-9)
    solution = solve_active_set(theirs, rows, tol=1e-9, max_iter=-1)
    model = DoubleHingeSVC(d, C=C, gamma=0.5, rule="bartlett_wegkamp").fit(X, y)
    f_bw = solution.model.g + solution.model.intercept
    np.testing.assert_allclose(score(model, X), entropy / d * f_bw, atol=1e-6)
    assert model.objective_ == pytest.approx((entropy / d) ** 2 * solution.objective)
    np.testing.assert_array_equal(model.predict(X) == -1, np.abs(f_bw) <= 0.5)


def test_rule_9(overlapping):
    X, y = overlapping
    model = DoubleHingeSVC(SKEWED, C=30).fit(X, y)
    p_minus, p_plus = SKEWED.thresholds
    np.testing.assert_allclose(1 / (1 + np.exp(-np.array(model.thresholds_))), [p_minus, p_plus])
    f = score(model, X)
    expected = np.where(f > model.thresholds_[1], 1, np.where(f < model.thresholds_[0], 0, -1))
    np.testing.assert_array_equal(model.predict(X), expected)
    assert {0, 1, -1} == set(expected)
    forced = DoubleHingeSVC(SKEWED, C=30, on_reject="never").fit(X, y).predict(X)
    np.testing.assert_array_equal(forced, (f > np.log(SKEWED.fp / SKEWED.fn)).astype(int))


def test_it_beats_guessing_and_the_rule_that_never_rejects():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(1500, 2))
    y = (rng.uniform(size=1500) < 1 / (1 + np.exp(-3 * X[:, 0] * np.abs(X[:, 0])))).astype(int)
    model = DoubleHingeSVC(0.2, C=1.0).fit(X[:700], y[:700])
    cost = expected_cost(y[700:], model.decide(X[700:]), costs=0.2)
    never = np.mean(model.set_params(on_reject="never").predict(X[700:]) != y[700:])
    assert cost < 0.9 * never


# Invariances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_weights_are_copies(overlapping, kernel):
    X, y = overlapping
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = DoubleHingeSVC(SKEWED, kernel=kernel).fit(X, y, sample_weight=counts)
    repeated = DoubleHingeSVC(SKEWED, kernel=kernel).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(score(weighted, X), score(repeated, X), atol=1e-7)
    assert weighted.objective_ == pytest.approx(repeated.objective_)
    assert not set(weighted.support_) & set(np.flatnonzero(counts == 0))


def test_order_scale_of_weights_and_class_weights(overlapping):
    X, y = overlapping
    base = DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(
        score(DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5).fit(X[order], y[order]), X), score(base, X), atol=1e-7
    )
    halved = DoubleHingeSVC(SKEWED, C=4.0, gamma=0.5).fit(X, y, sample_weight=np.full(len(y), 0.5))
    np.testing.assert_allclose(score(halved, X), score(base, X), atol=1e-7)
    by_class = DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5, class_weight={1: 3.0}).fit(X, y)
    by_case = DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(score(by_class, X), score(by_case, X), atol=1e-7)
    balanced = DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5, class_weight="balanced").fit(X, y)
    own = len(y) / (2 * np.bincount(y))
    np.testing.assert_allclose(
        score(balanced, X), score(DoubleHingeSVC(SKEWED, C=2.0, gamma=0.5).fit(X, y, own[y]), X), atol=1e-7
    )


def test_balance_counts_weights_not_cases(overlapping):
    X, y = overlapping
    counts = np.where(y == 1, 3, 1 + np.arange(len(y)) % 2)
    settings = {"C": 2.0, "gamma": 0.5, "class_weight": "balanced"}
    weighted = DoubleHingeSVC(SKEWED, **settings).fit(X, y, sample_weight=counts)
    repeated = DoubleHingeSVC(SKEWED, **settings).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(score(weighted, X), score(repeated, X), atol=1e-7)


def test_exchanging_the_classes_negates_the_score(overlapping):
    X, y = overlapping
    one = DoubleHingeSVC(SKEWED).fit(X, y)
    other = DoubleHingeSVC(SKEWED.swapped()).fit(X, 1 - y)
    named = DoubleHingeSVC(SKEWED.swapped(), pos_label=0).fit(X, y)
    np.testing.assert_allclose(score(other, X), -score(one, X), atol=1e-7)
    np.testing.assert_allclose(other.thresholds_, [-t for t in one.thresholds_[::-1]])
    np.testing.assert_allclose(score(named, X), score(one, X), atol=1e-7)
    assert named.score(X, y) == pytest.approx(one.score(X, y))


def test_forms_of_input(overlapping):
    X, y = overlapping
    X32 = X.astype(np.float32).astype(np.float64)
    base = DoubleHingeSVC(SKEWED).fit(X32, y)
    frozen = X32.copy()
    frozen.setflags(write=False)
    for form in (X32.astype(np.float32), np.asfortranarray(X32), sparse.csr_matrix(X32), sparse.csc_array(X32), frozen):
        model = DoubleHingeSVC(SKEWED).fit(form, y)
        np.testing.assert_allclose(score(model, form), score(base, X32), atol=1e-7)
        np.testing.assert_array_equal(model.predict(form), base.predict(X32))


def test_frames_keep_their_names(overlapping):
    pd = pytest.importorskip("pandas")
    X, y = overlapping
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DoubleHingeSVC().fit(frame, pd.Series(y).map({0: "no", 1: "yes"}))
    assert list(model.feature_names_in_) == list("abcd")
    assert set(model.predict(frame)) <= {"no", "yes", "[abstain]"}


def test_kernels_that_are_the_same_function_agree(overlapping):
    X, y = overlapping
    base = DoubleHingeSVC(SKEWED, gamma=0.7).fit(X, y)
    K = rbf_kernel(X, gamma=0.7)
    precomputed = DoubleHingeSVC(SKEWED, kernel="precomputed").fit(K, y)
    called = DoubleHingeSVC(SKEWED, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.7)).fit(X, y)
    sparse_K = DoubleHingeSVC(SKEWED, kernel="precomputed").fit(sparse.csr_matrix(K), y)
    for other, cases in ((precomputed, K), (called, X), (sparse_K, K)):
        np.testing.assert_allclose(score(other, cases), score(base, X), atol=1e-7)
        assert other.objective_ == pytest.approx(base.objective_)
    weights = (np.arange(len(y)) % 3).astype(float)
    np.testing.assert_allclose(
        score(DoubleHingeSVC(SKEWED, kernel="precomputed").fit(K, y, weights), K),
        score(DoubleHingeSVC(SKEWED, gamma=0.7).fit(X, y, weights), X),
        atol=1e-7,
    )


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "linear"])
def test_kernels_mean_what_they_mean_in_scikit_learn(overlapping, kernel, gamma):
    """In the limit of one hinge both are the same machine; the sigmoid kernel is not definite, so it is compared only
    in its values."""
    X, y = overlapping
    settings = {"kernel": kernel, "gamma": gamma, "degree": 2, "coef0": 0.5}
    if kernel == "sigmoid":
        from sklearn.metrics.pairwise import sigmoid_kernel

        model = DoubleRampSVC(0.2, **settings).fit(X, y)  # which needs no norm
        values = {"scale": 1 / (4 * X.var()), "auto": 0.25, 0.3: 0.3}
        K = sigmoid_kernel(X, X[model.support_], gamma=values[gamma], coef0=0.5)
        np.testing.assert_allclose(model.decision_function(X), K @ model.dual_coef_ + model.intercept_, atol=1e-9)
        return
    t = 2 * np.log(2)
    model = DoubleHingeSVC(0.5 - 1e-10, C=2 * t * 0.3, **settings).fit(X, y)
    svc = SVC(C=0.3, tol=1e-8, **settings).fit(X, y)
    np.testing.assert_allclose(score(model, X), t * svc.decision_function(X), atol=1e-5)


def test_many_cases_of_few_features_have_the_same_linear_machine():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 5)), rng.integers(0, 2, 2500)
    X[:, 0] += y
    fast = DoubleHingeSVC(SKEWED, kernel="linear", C=0.1).fit(X, y)
    exact = DoubleHingeSVC(SKEWED, kernel="linear", C=0.1, solver="active_set", tol=1e-6).fit(X, y)
    assert fast.n_iter_ < 60
    assert fast.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    np.testing.assert_allclose(fast.coef_, exact.coef_, atol=2e-3)
    np.testing.assert_allclose(score(fast, X), X @ fast.coef_ + fast.intercept_)


def test_a_large_problem_by_blocks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    X[:, 0] += 1.2 * y
    model = DoubleHingeSVC(SKEWED, C=1.0, cache_size=5).fit(X, y)
    beta = np.zeros(4000)
    beta[model.support_] = model.dual_coef_
    g = rbf_kernel(X, gamma=1 / (5 * X.var())) @ beta
    np.testing.assert_allclose(score(model, X), g + model.intercept_, atol=1e-8)
    signs = np.where(y == 1, 1.0, -1.0)
    primal = 0.5 * beta @ g + losses.double_hinge(SKEWED).value(signs, g + model.intercept_).sum()
    assert model.objective_ == pytest.approx(primal, rel=1e-6)
    assert 0 < model.dual_gap_ < 1e-4 * model.objective_
    assert model.residual_ <= 1e-3


# What it says -------------------------------------------------------------------------------------------------------


def test_reasons_give_the_score_both_thresholds_and_the_distance(overlapping):
    X, y = overlapping
    model = DoubleHingeSVC(SKEWED).fit(X, y)
    table = recuse.decide(model, X)
    low, high = model.thresholds_
    for row, f in zip(table, score(model, X), strict=True):
        assert f"score {f:.4g} " in row.reason
        distance = min(abs(f - low), abs(f - high))
        assert f"{distance:.4g}" in row.reason
        assert f"{low:.4g} and {high:.4g}" in row.reason
        assert row.accepted == ("between" not in row.reason)
        if row.accepted:
            assert row.reason.endswith(repr(row.label))
    assert {"accept", "ambiguity"} == set(table.kind)


def test_every_solver_that_is_listed_can_be_named(overlapping):
    from recuse.svm.qp.solvers import SOLVERS

    objectives = [DoubleHingeSVC(solver=solver).fit(*overlapping).objective_ for solver in SOLVERS]
    np.testing.assert_allclose(objectives, objectives[0])
    with pytest.raises(ValueError, match=f"solver must be one of {', '.join(map(repr, SOLVERS))}; got 'newton'"):
        DoubleHingeSVC(solver="newton").fit(*overlapping)


def test_there_are_no_probabilities():
    assert not hasattr(DoubleHingeSVC(), "predict_proba")
    assert "is not a probability" in " ".join(DoubleHingeSVC.__doc__.split())


def test_certificate_attributes(overlapping):
    X, y = overlapping
    for solver in ("smo", "active_set"):
        model = DoubleHingeSVC(0.2, solver=solver).fit(X, y)
        assert isinstance(model.intercept_, float)
        assert model.dual_coef_.shape == model.support_.shape
        assert len(model.support_vectors_) == len(model.support_)
        assert (np.sign(model.dual_coef_) == np.where(y[model.support_] == 1, 1, -1)).all()
        assert 0 <= model.dual_gap_ + 1e-9 <= 1e-6 * model.objective_
        assert model.residual_ <= model.tol
        assert model.n_iter_ > 0


@may_reject_all
def test_a_stop_at_the_limit_warns_with_the_remedy(overlapping):
    X, y = overlapping
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 3 steps with residual_=.* > tol=0\.001.*Raise max_iter"
    ):
        model = DoubleHingeSVC(max_iter=3).fit(X, y)
    assert model.residual_ > 1e-3


@may_reject_all
def test_pipelines_searches_and_files(overlapping, tmp_path):
    X, y = overlapping
    search = GridSearchCV(make_pipeline(StandardScaler(), DoubleHingeSVC(0.2)), {"doublehingesvc__C": [0.1, 1.0]}, cv=3)
    search.fit(X, y)
    assert (recuse.decide(search, X).label == search.predict(X)).all()
    recuse.save(search.best_estimator_, tmp_path / "model.recuse")
    again = recuse.load(tmp_path / "model.recuse")
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(search)).predict(X), search.predict(X))


@may_reject_all
def test_prediction_does_not_load_the_compiler(overlapping, tmp_path):
    X, y = overlapping
    for kernel in ("rbf", "linear"):
        file = tmp_path / "model.pickle"
        file.write_bytes(pickle.dumps((DoubleHingeSVC(kernel=kernel).fit(X, y), X)))
        code = f"""
import pickle, sys, recuse
model, X = pickle.loads(open({str(file)!r}, "rb").read())
model.decide(X), model.predict(X)
print("numba" in sys.modules)
"""
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_the_naive_machine_is_at_hand(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(SVC(), costs=0.2, rule="symmetric").fit(X, y)
    low, high = model.thresholds_
    assert low == pytest.approx(-high)


# What it refuses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C must be a finite number greater than 0; got 0.0"),
        ({"C": np.inf}, "C must be"),
        ({"tol": -1}, "tol must be"),
        ({"cache_size": 0}, "cache_size must be"),
        ({"kernel": "gauss"}, "kernel must be one of .* or a function; got 'gauss'"),
        ({"kernel": 3}, "kernel must be"),
        ({"solver": "ipm"}, "solver must be one of 'smo', 'active_set'; got 'ipm'"),
        ({"rule": "chow"}, "rule must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"costs": 0.5}, "Rejecting never pays"),
        ({"costs": Costs(fn=3, reject=0.1), "rule": "bartlett_wegkamp"}, "equal prices of both classes"),
        ({"class_weight": {1: -1.0}}, "class_weight must hold"),
        ({"class_weight": "equal"}, "class_weight must be"),
    ],
)
def test_settings_are_checked_at_fit(overlapping, settings, message):
    with pytest.raises(ValueError, match=message):
        DoubleHingeSVC(**settings).fit(*overlapping)


def test_data_are_checked_at_fit(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="leaves one class only"):
        DoubleHingeSVC().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="not negative"):
        DoubleHingeSVC().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        DoubleHingeSVC().fit(np.where(X > 1, np.nan, X), y)
    K = rbf_kernel(X)
    with pytest.raises(ValueError, match="square"):
        DoubleHingeSVC(kernel="precomputed").fit(K[:, :-1], y)
    with pytest.raises(ValueError, match="symmetric"):
        DoubleHingeSVC(kernel="precomputed").fit(K + np.triu(np.full(K.shape, 0.1), 1), y)
    with pytest.raises(ValueError, match="positive semidefinite"):
        DoubleHingeSVC(kernel="precomputed").fit(K - np.eye(len(y)), y)


@pytest.mark.filterwarnings("ignore:.*is positive semidefinite on 2048 of 2049")  # a matrix of the rbf kernel is
@pytest.mark.parametrize("place", ["300", "1000", "3000", "two clusters"])
def test_beyond_2048_cases_an_offset_does_no_harm(place):
    rng = np.random.default_rng(1)
    n = 2049
    y = rng.choice([-1, 1], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 0.7 * y
    if place == "two clusters":
        X[:, 1] += 3000.0 * rng.choice([-1, 1], n)
        cases = X
    else:
        X += float(place)
        X[0] = 0.0  # columns with a zero are not centred
        cases = sparse.csr_matrix(X)
    model = DoubleHingeSVC(0.2, C=5, gamma=0.5).fit(cases, y)
    Z = X - X.mean(axis=0)
    K = rbf_kernel(Z, gamma=0.5)
    double = DoubleHingeSVC(0.2, C=5, kernel="precomputed").fit(K, y)
    assert model.residual_ <= model.tol
    assert abs(model.objective_ - double.objective_) <= max(model.dual_gap_, double.dual_gap_) + 1e-9
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_
    f = K @ beta + model.intercept_
    np.testing.assert_allclose(model.decision_function(cases) + model.break_even_, f, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "poly", "degree": 2.5},
        {"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)},
        {"kernel": "poly", "degree": 300, "gamma": 100.0},
    ],
)
@pytest.mark.parametrize("n", [60, 2100])
def test_kernel_values_that_are_not_finite_are_refused(settings, n):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 2
    with pytest.raises(ValueError, match=r"kernel.*degree=.*coef0=.*not finite"):
        DoubleHingeSVC(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"max_iter": value}, "max_iter must be -1") for value in ("a", None, 2.5, -5, 0, True)),
        *(({"degree": value}, "degree must be") for value in ("a", -1, np.nan, None)),
        *(({"coef0": value}, "coef0 must be") for value in ("x", np.nan, np.inf)),
        ({"class_weight": {0: 1.0, 7: 2.0}}, r"keys that are not classes: \[7\]"),
        ({"class_weight": {0: "a"}}, "class_weight must hold finite numbers"),
    ],
)
def test_settings_out_of_range_are_named(settings, message):
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(ValueError, match=message):
        DoubleHingeSVC(**settings).fit(X, y)


@pytest.mark.parametrize(("n", "d", "C"), [(12, 2, 1e6), (100, 2, 1e5), (60, 4, 1e4)])
def test_hard_small_problems_end(n, d, C):
    rng = np.random.default_rng(n)
    X = 10 * rng.normal(size=(n, d))
    y = (X[:, 0] + 10 * rng.normal(size=n) > 0).astype(int)
    pairs, free = (
        DoubleHingeSVC(0.45, C=C, kernel="poly", degree=2, coef0=1, gamma=5.0, solver=solver).fit(X, y)
        for solver in ("smo", "active_set")
    )
    assert pairs.residual_ <= 1e-3
    assert pairs.n_iter_ <= 10_000 + 200 * n + 1000 + 100 * n
    assert abs(pairs.objective_ - free.objective_) <= max(pairs.dual_gap_, free.dual_gap_) + 1e-6 * free.objective_


@may_reject_all
def test_the_fitted_kernel_counts_not_the_parameter(overlapping):
    X, y = overlapping
    model = DoubleHingeSVC(kernel="linear").fit(X, y)
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(kernel="rbf").decision_function(X), f)
    model.fit(X, y)
    assert not hasattr(model, "coef_")
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(kernel="linear").decision_function(X), f)


def test_many_cases_few_features_far_from_the_origin():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 2500)
    X = rng.normal(size=(2500, 3))
    X[:, 0] += 0.7 * y
    near, far = (DoubleHingeSVC(kernel="linear").fit(cases, y) for cases in (X, X + 1e5))
    assert far.residual_ <= far.tol
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    np.testing.assert_allclose(far.decision_function(X + 1e5), near.decision_function(X), atol=1e-2)


def test_an_offset_costs_no_digits_in_prediction(overlapping):
    X, y = overlapping
    X = np.round(X, 3)
    near, far = (DoubleHingeSVC(gamma=0.5).fit(cases, y) for cases in (X, X + 1e7))
    np.testing.assert_allclose(far.decision_function(X + 1e7), near.decision_function(X), atol=1e-6)


def test_a_kernel_function_must_return_a_matrix():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(ValueError, match=r"matrix of shape \(8, 8\)"):
        DoubleHingeSVC(kernel=lambda A, B: np.ones(len(A))).fit(X, y)


# Hard problems ------------------------------------------------------------------------------------------------------


def rough(n, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    X = rng.normal(size=(n, 5))
    X[:, 0] += shift * y
    return X, y


@may_reject_all
@pytest.mark.parametrize("n", [1200, 2100])
@pytest.mark.parametrize("shift", [0.0, 0.8, 2.2])
def test_where_pairs_crawl_another_method_finishes(n, shift):
    """Hopeless, overlapping and nearly separable cases at C = 1e4: millions of pair steps would not be enough."""
    model = DoubleHingeSVC(0.2, C=1e4, kernel="poly", gamma=1.0, coef0=1).fit(*rough(n, shift))
    assert model.n_iter_ <= 10_000 + 200 * n + 300
    assert model.residual_ <= 1e-3
    assert 0 <= model.dual_gap_ <= 1e-3 * model.objective_


def test_a_problem_that_no_method_finishes_ends_with_a_warning_and_a_true_gap(monkeypatch):
    from recuse.svm.qp import smo

    monkeypatch.setattr(smo, "_PAIRS", (100, 0))
    monkeypatch.setattr(smo, "_MORE_PAIRS", 1)
    monkeypatch.setattr(smo, "_NEWTON_STEPS", 1)
    monkeypatch.setattr(smo, "_WIDEST", 1100)
    X, y = rough(1100)
    with pytest.warns(ConvergenceWarning, match="stopped after 1203 steps with residual_="):
        model = DoubleHingeSVC(0.2, C=1e4, gamma=0.2).fit(X, y)
    best = DoubleHingeSVC(0.2, C=1e4, gamma=0.2, max_iter=10**7).fit(X, y)
    assert model.objective_ - model.dual_gap_ <= best.objective_ <= model.objective_
    with pytest.warns(ConvergenceWarning):
        begun = DoubleHingeSVC(0.2, C=1e4, gamma=0.2, max_iter=100).fit(X, y)
    assert model.objective_ <= begun.objective_  # what is worse is not taken


@may_reject_all
@pytest.mark.parametrize("n", [1100, 2100])
def test_a_kernel_matrix_of_high_rank_is_left_to_the_pairs(n, monkeypatch):
    """Newton steps on its factor would take minutes: n times the square of the rank for each."""
    from recuse.svm.qp import smo

    factors = []

    original = smo.pivoted_factor

    def watched(rows, most):
        factors.append((most, original(rows, most)))
        return factors[-1][1]

    monkeypatch.setattr(smo, "_PAIRS", (100, 0))
    monkeypatch.setattr(smo, "pivoted_factor", watched)
    model = DoubleHingeSVC(0.2, C=1.0, gamma=5.0).fit(*rough(n))
    assert factors == [(1000, None)]
    assert 100 < model.n_iter_ <= 100 + 800 * n
    assert model.residual_ <= 1e-3


@may_reject_all
@pytest.mark.parametrize("solver", ["smo", "active_set"])
@pytest.mark.parametrize("n", [300, 1100])
@pytest.mark.parametrize("price", [1e-4, 1e-6, 1e-8])
def test_at_very_low_reject_prices_the_gap_is_small_too(solver, n, price):
    """The boxes are then a million times as wide as the coefficients: a small violation alone would say nothing."""
    model = DoubleHingeSVC(price, C=1.0, solver=solver).fit(*rough(n))
    assert 0 <= model.dual_gap_ + 1e-12 <= 1e-3 * model.objective_
    assert model.residual_ <= 1e-3


@may_reject_all
def test_at_very_low_reject_prices_blocks_do_not_stop_at_a_poor_gap():
    model = DoubleHingeSVC(1e-6, C=1.0, gamma=0.2).fit(*rough(2100))
    assert 0 <= model.dual_gap_ <= 1e-3 * model.objective_


@may_reject_all
def test_a_gap_that_stays_large_is_warned_of():
    X, y = rough(1100)
    few = DoubleHingeSVC(1e-6, C=1.0, max_iter=950)
    with pytest.warns(ConvergenceWarning, match=r"dual_gap_=.* a share of .* > tol=0\.001 of objective_"):
        few.fit(X, y)
    assert few.residual_ <= 1e-3


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("n", [200, 1100])
def test_the_unit_of_the_prices_does_not_matter(factor, n):
    """Only ratios of prices enter the loss, so that tol means the same in cents and in millions."""
    X, y = rough(n)
    prices = (SKEWED.fp, SKEWED.fn, SKEWED.reject_negative, SKEWED.reject_positive)
    fp, fn, negative, positive = (factor * price for price in prices)
    other = Costs(fp=fp, fn=fn, reject_negative=negative, reject_positive=positive)
    base, scaled = (DoubleHingeSVC(costs, tol=1e-6).fit(X, y) for costs in (SKEWED, other))
    np.testing.assert_allclose(scaled.thresholds_, base.thresholds_)
    np.testing.assert_allclose(score(scaled, X), score(base, X), atol=1e-5)
    assert scaled.objective_ == pytest.approx(base.objective_)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize(("n", "kernel"), [(300, "rbf"), (2100, "rbf"), (2100, "linear")])
def test_sparse_columns_without_zeros_are_centred(form, n, kernel):
    X, y = rough(n)
    X = np.round(X, 3)
    X[:, 3] *= np.abs(X[:, 3]) > 1  # a column with zeros stays as it is
    far = X + np.array([1e7, -1e7, 1e6, 0.0, 1e7])
    near = DoubleHingeSVC(SKEWED, kernel=kernel, gamma=0.3, C=0.5).fit(X, y)
    model = DoubleHingeSVC(SKEWED, kernel=kernel, gamma=0.3, C=0.5).fit(form(far), y)
    assert model.objective_ == pytest.approx(near.objective_, rel=1e-5)
    cases = far[:50].copy()
    atol = {"rbf": 2e-3, "linear": 0.05}[kernel]  # tol; a linear score far away is a difference of large numbers
    np.testing.assert_allclose(score(model, form(cases)), score(near, X[:50]), atol=atol)
    if kernel == "rbf":
        cases[:, 0] = 0.0  # a zero where training had none: far from every case
        np.testing.assert_allclose(score(model, form(cases)), model.intercept_)
