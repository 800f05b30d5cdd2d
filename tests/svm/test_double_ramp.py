"""DoubleRampSVC: critical points proved from outside, descent, the optimum of tiny problems, input and errors."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import recuse
from recuse import Costs, DoubleHingeSVC, DoubleRampSVC
from recuse.metrics import expected_cost
from recuse.svm import double_ramp_path
from recuse.svm.dc import quadratic_program
from recuse.svm.dc.quadratic_program import NormProgram
from recuse.svm.losses import double_ramp
from recuse.svm.qp.smo import solve_smo
from recuse.svm.rows import MatrixRows, VectorRows
from tests.marks import may_reject_all
from tests.processes import LIMIT

from .ramp_reference import global_minimum, majoriser_minimum, random_ramp_case

pytestmark = pytest.mark.filterwarnings("ignore:DoubleRampSVC found nothing better")
CASES = range(24)


def fitted(case, **options):
    lam = case.lam / case.costs.cheaper_error  # the machine takes it in units of that price
    model = DoubleRampSVC(case.costs, lam=lam, mu=case.mu, kernel=case.kernel, gamma=0.5, **options)
    return model.fit(case.X, case.y, sample_weight=case.weights)


def size(model, case, penalty):
    """The penalty from the published coefficients."""
    if penalty == "l1":
        return case.lam * np.abs(model.dual_coef_).sum()
    K = case.gram[np.ix_(model.support_, model.support_)]
    return case.lam * 0.5 * model.dual_coef_ @ K @ model.dual_coef_


# Proofs from outside --------------------------------------------------------------------------------------------------


@may_reject_all
@pytest.mark.parametrize("seed", CASES)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_point_is_critical_by_an_independent_solver(seed, penalty):
    """No majoriser that touches the objective at the returned point can be lowered, whichever way ties are counted."""
    case = random_ramp_case(seed)
    model = fitted(case, penalty=penalty)
    f = model.decision_function(case.X)
    J = size(model, case, penalty) + case.loss(f, model.rho_)
    price = max(case.costs.fp, case.costs.fn)
    assert model.objective_ == pytest.approx(J, rel=1e-9)
    assert model.residual_ <= 1e-6
    assert model.dual_gap_ == pytest.approx(price * model.residual_)
    for tie in (1e-7 * max(1, model.rho_), -1e-7 * max(1, model.rho_)):
        criticality = (J - majoriser_minimum(case, penalty, f, model.rho_, tie)) / price
        assert criticality <= 1e-6
        assert criticality <= model.residual_ + 2e-8  # the certificate holds, to the accuracy of the conic solver


@may_reject_all
@pytest.mark.parametrize("seed", CASES)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_never_worse_than_a_constant_answer(seed, penalty):
    case = random_ramp_case(seed)
    model = fitted(case, penalty=penalty)
    rho = model.rho_
    for b, width in ((0.0, max(case.mu, rho)), (9.0, 1.0), (-9.0, 1.0)):
        assert model.objective_ <= case.loss(np.full(len(case.y), b), width) + 2e-6 * max(case.costs.fp, case.costs.fn)


@may_reject_all
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@given(seed=st.integers(0, 10_000))
def test_the_objective_falls_from_program_to_program(seed, penalty):
    case = random_ramp_case(seed)
    model = fitted(case, penalty=penalty)
    assert (np.diff(model.history_) < 0).all()
    assert model.history_[-1] == model.objective_
    assert model.rho_ >= case.mu * (1 + case.mu) / 2


@may_reject_all
def test_tiny_problems_end_near_the_global_optimum(record_property):
    """Best of five starts against a mixed-integer program; the share within 5 % is reported."""
    excess = []
    for seed in range(20):
        case = random_ramp_case(seed, n=12)
        case.lam = 0.02 * max(case.costs.fp, case.costs.fn)
        case.kernel = "rbf"
        model = fitted(case, n_init=5, random_state=0)
        excess.append(model.objective_ / global_minimum(case) - 1)
    share = float(np.mean(np.array(excess) <= 0.05))
    record_property("share within 5 % of the optimum", share)
    print(f"within 5 % of the global optimum: {share:.0%} of 20; largest excess {max(excess):.2%}")
    assert min(excess) >= -1e-4  # nothing is better than the optimum
    assert share > 0.5


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_every_point_of_a_path_is_critical(penalty):
    case = random_ramp_case(6, n=40)  # rbf, weights
    lams, prices = np.array([0.03, 0.001, 0.01]), [0.1, 0.3, Costs(fp=1, fn=3, reject=0.3)]
    path = double_ramp_path(
        case.X, case.y, lams, prices, mu=case.mu, gamma=0.5, penalty=penalty, sample_weight=case.weights
    )
    assert path.converged.all()
    assert path.scores(case.X).shape == (3, 3, 40)
    for a, costs in enumerate(path.costs):
        for b, lam in enumerate(lams):
            case.costs, case.lam = costs, lam
            f, rho, coef = path.scores(case.X)[a, b], path.rho[a, b], path.dual_coef[a, b]
            norm = np.abs(coef).sum() if penalty == "l1" else 0.5 * coef @ case.gram @ coef
            J = lam * norm + case.loss(f, rho)
            assert path.objective[a, b] == pytest.approx(J, rel=1e-9)
            assert path.n_support[a, b] == np.count_nonzero(coef)
            for tie in (1e-7 * max(1, rho), -1e-7 * max(1, rho)):
                assert J - majoriser_minimum(case, penalty, f, rho, tie) <= 1e-6 * max(costs.fp, costs.fn)


def test_a_path_takes_fewer_programs_than_separate_fits_and_ends_no_higher_on_average():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 150)
    X = rng.normal(size=(150, 3)) + 0.5 * y[:, None]
    lams = np.geomspace(1e-4, 1e-2, 8)
    path = double_ramp_path(X, y, lams, 0.2, gamma=0.3)
    fits = [DoubleRampSVC(0.2, lam=lam, gamma=0.3).fit(X, y) for lam in lams]
    assert path.n_iter.sum() < sum(fit.n_iter_ for fit in fits)
    assert path.objective.mean() <= 1.01 * np.mean([fit.objective_ for fit in fits])
    one = double_ramp_path(X, y, [lams[3]], 0.2, gamma=0.3)
    assert one.objective[0, 0] == pytest.approx(fits[3].objective_)


def test_a_path_takes_class_weights_and_the_positive_class_as_the_machine_does(overlapping):
    X, y = overlapping
    options = {"gamma": 0.5, "class_weight": {0: 3.0, 1: 0.5}, "pos_label": 0}
    prices = Costs(fp=1, fn=4, reject=0.3)
    path = double_ramp_path(X, y, [3e-3], prices, **options)
    model = DoubleRampSVC(prices, lam=3e-3, **options).fit(X, y)
    assert path.objective[0, 0] == pytest.approx(model.objective_)
    np.testing.assert_allclose(path.scores(X)[0, 0], model.decision_function(X), atol=1e-9)


# Invariances and limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_weights_stand_for_repeated_and_absent_cases(overlapping, penalty):
    X, y = overlapping[0][:80], overlapping[1][:80]
    weights = np.random.default_rng(0).choice([0, 1, 2], 80)
    model = DoubleRampSVC(lam=0.01, gamma=0.5, penalty=penalty)
    weighted = model.fit(X, y, sample_weight=weights).objective_
    assert not np.isin(model.support_, np.flatnonzero(weights == 0)).any()
    rows = np.repeat(np.arange(80), weights)
    repeated = DoubleRampSVC(lam=0.01, gamma=0.5, penalty=penalty).fit(X[rows], y[rows])
    assert weighted == pytest.approx(repeated.objective_, rel=0.02)  # critical points both, not always the same one
    point = _objective(model, X[rows], np.where(y[rows] == 1, 1.0, -1.0))
    assert point == pytest.approx(weighted, rel=1e-9)


def _objective(model, X, y):
    """The objective of a fitted machine on cases of weight 1, from what it publishes."""
    f = model.decision_function(X)
    loss = double_ramp(Costs(reject=0.2), y, np.ones(len(y)), 1.0).value(f, model.rho_)
    if model.penalty == "l1":
        return model.lam * np.abs(model.dual_coef_).sum() + loss
    K = rbf_kernel(model.support_vectors_, gamma=0.5)
    return model.lam * 0.5 * model.dual_coef_ @ K @ model.dual_coef_ + loss


@pytest.mark.parametrize("seed", range(6))
def test_the_loss_is_the_one_of_equation_4(seed):
    """Plateau, slopes and bounds of section 3: d (1 + mu) inside, (1 + mu) far on the wrong side, 0 beyond rho + mu."""
    case = random_ramp_case(seed)
    loss = double_ramp(case.costs, case.y, case.weights, case.mu)
    rho = loss.rho_min * 2.5
    f = np.random.default_rng(seed).normal(size=len(case.y)) * 2 * rho
    assert loss.value(f, rho) == pytest.approx(case.loss(f, rho))
    outer, inner = case.heights
    top = 1 + case.mu
    assert loss.value(case.y * (rho + case.mu), rho) == pytest.approx(0)
    assert loss.value(np.zeros(len(case.y)), rho) == pytest.approx(top * outer.sum())
    assert loss.value(-case.y * (rho + 2), rho) == pytest.approx(top * (outer + inner).sum())


def test_a_large_lam_leaves_no_support_and_says_so(overlapping):
    X, _ = overlapping
    with pytest.warns(UserWarning, match="the same answer for every case at lam=5"):
        model = DoubleRampSVC(0.4, lam=5.0).fit(X[:50], (np.arange(50) < 5).astype(int))
    assert len(model.support_) == 0
    assert model.objective_ == pytest.approx(2 * 5 / 50)  # all negative, five of fifty wrong, times 1 + mu
    assert not model.predict(X).astype(bool).any()


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_rejecting_every_case_is_said_so_with_support_vectors_or_without(overlapping, penalty):
    X, y = overlapping
    far = X * [1e4, 1, 1, 1]  # one feature drowns the others
    with pytest.warns(UserWarning, match="rejects every training case at Costs.* standardise the features"):
        model = DoubleRampSVC(0.05, lam=0.03, penalty=penalty).fit(far, y)
    assert (model.predict(far) == -1).all()


def test_sparser_than_the_double_hinge_on_the_same_cases(overlapping):
    X, y = overlapping
    model = DoubleRampSVC(0.2).fit(X, y)
    assert model.n_support_.sum() == len(model.support_) < 0.5 * len(DoubleHingeSVC(0.2).fit(X, y).support_)
    assert (np.sign(model.dual_coef_) == np.where(y[model.support_] == 1, 1, -1)).all()


def test_prediction_touches_support_vectors_only(overlapping):
    X, y = overlapping
    seen = []

    def kernel(A, B):
        seen.append(len(B))
        return rbf_kernel(A, B, gamma=0.5)

    model = DoubleRampSVC(kernel=kernel).fit(X, y)
    seen.clear()
    model.predict(X)
    assert set(seen) == {len(model.support_)}


def test_forms_of_input_agree(overlapping):
    X, y = overlapping
    model = DoubleRampSVC(gamma=0.5).fit(X, y)
    for other, form in (
        (DoubleRampSVC(kernel="precomputed"), rbf_kernel(X, gamma=0.5)),
        (DoubleRampSVC(gamma=0.5), sparse.csr_matrix(X)),
        (DoubleRampSVC(gamma=0.5, cache_size=0.01), X),  # rows computed when they are needed
    ):
        other.fit(form, y)
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-6)
        np.testing.assert_allclose(other.decision_function(form), model.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("unit", [1e-4, 1e5])
def test_the_unit_of_the_prices_does_not_matter(overlapping, penalty, unit):
    X, y = overlapping
    model = DoubleRampSVC(Costs(fp=1, fn=3, reject=0.3), lam=3e-3, penalty=penalty).fit(X, y)
    other = DoubleRampSVC(Costs(fp=unit, fn=3 * unit, reject=0.3 * unit), lam=3e-3, penalty=penalty).fit(X, y)
    assert other.objective_ == pytest.approx(unit * model.objective_, rel=1e-6)
    assert other.residual_ <= 1e-6
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_features_of_any_scale_end_with_a_certificate():
    """Pairs get stuck on these programs, whose free rho must then be found by other methods."""
    X, y = load_breast_cancer(return_X_y=True)
    model = DoubleRampSVC(kernel="linear", penalty="l2").fit(X[:200], y[:200])  # a warning would be an error
    assert model.residual_ <= 1e-6
    assert model.rho_ > 1


@pytest.mark.parametrize("unit", [1e4, 1e7, 1e10, 1e100])
def test_a_linear_machine_takes_features_in_any_unit(overlapping, unit):
    X, y = overlapping
    one = DoubleRampSVC(0.4, kernel="linear").fit(X, y)
    other = DoubleRampSVC(0.4, kernel="linear", lam=one.lam * unit**2).fit(unit * X, y)  # a warning would be an error
    assert other.residual_ <= 1e-6
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
    np.testing.assert_allclose(other.decision_function(unit * X), one.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("size", [1e7, 1e10, 1e15, 1e100])
@pytest.mark.parametrize("where", [np.s_[:, 0], np.s_[3, 0]], ids=["column", "outlier"])
def test_features_of_very_unequal_size_end_in_a_certificate_a_warning_or_a_refusal(overlapping, where, size):
    X, y = overlapping
    X = X.copy()
    X[where] *= size
    model = DoubleRampSVC(kernel="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            model.fit(X, y)
        except ConvergenceWarning:
            assert model.residual_ > 1e-6
        except ValueError as refused:
            if "cannot be fitted to these cases: HiGHS ended" not in str(refused):
                raise
        else:
            assert model.residual_ <= 1e-6


def test_l2_needs_no_whole_kernel_matrix(overlapping, monkeypatch):
    X, y = overlapping
    whole = DoubleRampSVC(penalty="l2", gamma=0.5).fit(X, y)
    seen = []
    monkeypatch.setattr(
        quadratic_program, "solve_smo", lambda *a, **k: (seen.append(type(a[1])), solve_smo(*a, **k))[1]
    )
    rows = DoubleRampSVC(penalty="l2", gamma=0.5, cache_size=0.01).fit(X, y)
    assert set(seen) == {VectorRows}
    assert rows.objective_ == pytest.approx(whole.objective_, rel=1e-6)


@pytest.mark.parametrize("seed", CASES)
def test_free_half_widths_are_optimal(seed):
    """Random majorisers, most of them with rho above its least value, against a conic solver."""
    case = random_ramp_case(seed, n=25)
    loss = double_ramp(case.costs, case.y, case.weights, case.mu)
    program = NormProgram(loss, MatrixRows(case.gram), case.lam, tol=1e-6, cache_bytes=2**20)
    active = loss.random_active_hinges(np.random.default_rng(seed))
    point, bound = program.minimise(active)
    value = point.penalty + loss.majoriser(point.f, point.rho, active)
    price = max(case.costs.fp, case.costs.fn)
    assert bound - 1e-9 * price <= value <= bound + 1e-7 * price
    assert majoriser_minimum(case, "l2", point.f, point.rho, 0, slopes=active) == pytest.approx(value, abs=1e-6 * price)


def test_a_half_width_that_does_not_matter_is_no_obstacle():
    """Every case in the band: the program is flat in rho far out, and a slope of rounding once sent it farther."""
    model = fitted(random_ramp_case(3770), penalty="l2")  # a warning would be an error
    assert model.residual_ <= 1e-6
    assert model.rho_ < 10


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_linear_machine_without_support_has_weights_of_zero(penalty):
    case = random_ramp_case(301)  # linear
    case.lam = 1e3 * max(case.costs.fp, case.costs.fn)
    model = fitted(case, penalty=penalty)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-3)
    model = fitted(random_ramp_case(301), penalty=penalty)
    assert len(model.support_) > 0 or not model.coef_.any()


def test_more_starts_end_no_higher(overlapping):
    X, y = overlapping
    one = DoubleRampSVC(lam=3e-3).fit(X, y)
    several = DoubleRampSVC(lam=3e-3, n_init=5, random_state=1).fit(X, y)
    assert several.objective_ <= one.objective_
    assert several.n_iter_ > one.n_iter_
    again = DoubleRampSVC(lam=3e-3, n_init=5, random_state=1).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, several.dual_coef_)


def test_prices_by_class_move_the_band(overlapping):
    X, y = overlapping
    misses = Costs(fp=1, fn=10, reject=0.4)
    dear = DoubleRampSVC(misses, lam=3e-3, n_init=3, random_state=0).fit(X, y)
    even = DoubleRampSVC(0.4, lam=3e-3, n_init=3, random_state=0).fit(X, y)
    assert expected_cost(y, dear.decide(X), costs=misses) < expected_cost(y, even.decide(X), costs=misses)
    swapped = DoubleRampSVC(misses.swapped(), lam=3e-3, n_init=3, random_state=0, pos_label=0).fit(X, y)
    np.testing.assert_array_equal(swapped.predict(X), dear.predict(X))


# What it says, keeps and refuses --------------------------------------------------------------------------------------


def test_reasons_name_score_and_thresholds(overlapping):
    X, y = overlapping
    decisions = DoubleRampSVC().fit(X, y).decide(X[:20])
    assert all("thresholds" in reason for reason in decisions.reason)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("max_iter", [1, 2])
def test_a_stop_at_the_limit_is_reported_with_the_true_residual(penalty, max_iter):
    case = random_ramp_case(4, n=40)
    with pytest.warns(ConvergenceWarning, match=r"programs with residual_=[0-9.e-]+ > tol=1e-06\. Raise max_iter"):
        model = fitted(case, penalty=penalty, max_iter=max_iter)
    assert model.n_iter_ <= max_iter + 2
    assert len(model.history_) <= max_iter
    f, price = model.decision_function(case.X), max(case.costs.fp, case.costs.fn)
    lowest = min(majoriser_minimum(case, penalty, f, model.rho_, tie) for tie in (1e-7, -1e-7))
    assert model.residual_ == pytest.approx((model.objective_ - lowest) / price, abs=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_models_come_back_from_files(tmp_path, overlapping, penalty):
    X, y = overlapping
    model = DoubleRampSVC(penalty=penalty).fit(X, y)
    recuse.save(model, tmp_path / "model.recuse")
    for copy in (recuse.load(tmp_path / "model.recuse"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_prediction_loads_neither_compiler_nor_solver(tmp_path, overlapping):
    X, y = overlapping
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(DoubleRampSVC().fit(X, y)))
    code = f"""
import pickle, sys
import numpy as np
model = pickle.loads(open({str(tmp_path / "model.pickle")!r}, "rb").read())
model.decide(np.zeros((2, {X.shape[1]})))
print(sorted({{"numba", "highspy"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"costs": 0.5}, ValueError, "reject"),
        ({"costs": 0.7}, ValueError, "reject"),
        ({"costs": 0.0}, ValueError, "greater than 0"),
        ({"costs": -0.1}, ValueError, "greater than 0"),
        ({"costs": Costs(fp=1, fn=5, reject_negative=0.9, reject_positive=4.0)}, ValueError, "reject"),
        ({"mu": 0}, ValueError, r"mu must be a number in \(0, 1\]; got 0"),
        ({"mu": 1.5}, ValueError, r"mu must be a number in \(0, 1\]; got 1.5"),
        ({"lam": 0}, ValueError, "lam must be a finite number greater than 0; got 0"),
        ({"lam": -1.0}, ValueError, "lam must be a finite number greater than 0"),
        ({"lam": np.nan}, ValueError, "lam must be a finite number greater than 0"),
        ({"tol": 0}, ValueError, "tol must be"),
        ({"penalty": "l0"}, ValueError, "penalty must be one of 'l1', 'l2'; got 'l0'"),
        ({"kernel": "nothing"}, ValueError, "kernel must be one of"),
        ({"gamma": -1}, ValueError, "gamma must be"),
        ({"n_init": 0}, ValueError, "n_init must be 1 or more"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an integer"),
    ],
)
def test_bad_parameters_are_named(overlapping, parameters, error, message):
    with pytest.raises(error, match=message):
        DoubleRampSVC(**parameters).fit(*overlapping)


def test_a_kernel_without_a_norm_is_refused_where_the_norm_is_needed(overlapping):
    X, y = overlapping
    options = {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0, "lam": 1e-4}
    with pytest.raises(ValueError, match=r"kernel='sigmoid' must be positive semidefinite.*penalty='l1'"):
        DoubleRampSVC(penalty="l2", **options).fit(X, y)
    assert DoubleRampSVC(**options).fit(X, y).residual_ <= 1e-6


def test_bad_paths_are_named(overlapping):
    X, y = overlapping
    for lams in ([], [0.0], [-1.0], 3.0):
        with pytest.raises(ValueError, match="lams must be a list of finite numbers greater than 0"):
            double_ramp_path(X, y, lams)
    with pytest.raises(ValueError, match="at least one price list"):
        double_ramp_path(X, y, [0.1], [])
    with pytest.raises(ValueError, match="must have 4 columns"):
        double_ramp_path(X, y, [0.1]).scores(X[:, :2])
    with pytest.warns(ConvergenceWarning, match="double_ramp_path stopped 1 of 1 fits"):
        double_ramp_path(X, y, [1e-3], max_iter=2)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_features_of_any_scale_have_the_proof_of_those_that_are_scaled(form, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :10], y[:200]
    called, original = [], quadratic_program.solve_linear
    monkeypatch.setattr(quadratic_program, "solve_linear", lambda *a, **o: called.append(1) or original(*a, **o))
    model = DoubleRampSVC(penalty="l2", kernel="linear").fit(form(X), y)
    assert called  # pairs are slow on them
    assert model.residual_ <= 1e-6
    monkeypatch.setattr(quadratic_program, "_CASES_PER_FEATURE", 10**6)
    by_pairs = DoubleRampSVC(penalty="l2", kernel="linear").fit(form(X), y)
    assert model.objective_ == pytest.approx(by_pairs.objective_, abs=1e-5)
