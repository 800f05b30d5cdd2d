"""DoubleRampSVC: critical points proved from outside, descent, the optimum of tiny problems, input and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse import Costs, DoubleRampSVC
from recuse.svm import double_ramp_path

from .ramp_reference import global_minimum, majoriser_minimum, random_ramp_case

pytestmark = pytest.mark.filterwarnings("ignore:DoubleRampSVC found nothing better")
CASES = range(24)


def fitted(case, **options):
    model = DoubleRampSVC(case.costs, lam=case.lam, mu=case.mu, kernel=case.kernel, gamma=0.5, **options)
    return model.fit(case.X, case.y, sample_weight=case.weights)


def size(model, case, penalty):
    """The penalty from the published coefficients."""
    if penalty == "l1":
        return case.lam * np.abs(model.dual_coef_).sum()
    K = case.gram[np.ix_(model.support_, model.support_)]
    return case.lam * 0.5 * model.dual_coef_ @ K @ model.dual_coef_


# Proofs from outside --------------------------------------------------------------------------------------------------


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
    for tie in (1e-7 * max(1, model.rho_), -1e-7 * max(1, model.rho_)):
        assert J - majoriser_minimum(case, penalty, f, model.rho_, tie) <= 1e-6 * price


@pytest.mark.parametrize("seed", CASES)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_never_worse_than_a_constant_answer(seed, penalty):
    case = random_ramp_case(seed)
    model = fitted(case, penalty=penalty)
    rho = model.rho_
    for b, width in ((0.0, max(case.mu, rho)), (9.0, 1.0), (-9.0, 1.0)):
        assert model.objective_ <= case.loss(np.full(len(case.y), b), width) + 2e-6


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@given(seed=st.integers(0, 10_000))
def test_the_objective_falls_from_program_to_program(seed, penalty):
    case = random_ramp_case(seed)
    model = fitted(case, penalty=penalty)
    assert (np.diff(model.history_) < 0).all()
    assert model.history_[-1] == model.objective_
    assert model.rho_ >= case.mu * (1 + case.mu) / 2


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
                assert J - majoriser_minimum(case, penalty, f, rho, tie) <= 1e-6


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
