"""Kernels that are not positive semidefinite: no machine proves an optimum, however many cases there are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from recuse import CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC
from recuse.baselines import EmbeddedRejectSVC, IndependentOneClassSVC
from recuse.svm import double_hinge_path
from recuse.svm.kernels import Kernel, require_semidefinite, sampled_cases
from tests.marks import may_reject_all

MACHINES = [
    CoupledOneClassSVC(),
    DoubleHingeSVC(),
    DoubleHingeSVC(solver="active_set"),
    DoubleRampSVC(penalty="l2"),
    EmbeddedRejectSVC(),
]


def tanh_kernel(A, B):
    return np.tanh(A @ B.T - 1)


def rbf_function(A, B):
    return rbf_kernel(A, B, gamma=0.5)


def cases(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("n", [40, 700, 2300])
@pytest.mark.parametrize("kernel", ["function", "precomputed", "sigmoid"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_a_kernel_without_a_norm_is_refused(machine, kernel, n):
    X, y = cases(n)
    given = {"function": tanh_kernel, "precomputed": "precomputed", "sigmoid": "sigmoid"}[kernel]
    machine = clone(machine).set_params(kernel=given, gamma=1.0, coef0=-1.0)
    with pytest.raises(
        ValueError, match=r"must be positive semidefinite on the training cases.*smallest eigenvalue is -"
    ):
        machine.fit(tanh_kernel(X, X) if kernel == "precomputed" else X, y)
    assert not hasattr(machine, "dual_gap_")


def test_matrices_without_a_norm_are_refused_by_the_independent_pair_too():
    X, y = cases(700)
    with pytest.raises(ValueError, match="must be positive semidefinite"):
        IndependentOneClassSVC(kernel="precomputed").fit(tanh_kernel(X, X), y)


def test_a_path_refuses_it_as_the_machine_does():
    X, y = cases(60)
    with pytest.raises(ValueError, match="the kernel function must be positive semidefinite"):
        double_hinge_path(X, y, [1.0], kernel=tanh_kernel)


def test_a_function_that_depends_on_the_order_of_two_cases_is_refused():
    X, y = cases(60)
    with pytest.raises(ValueError, match="the kernel function must be symmetric"):
        DoubleHingeSVC(kernel=lambda A, B: rbf_function(A, B) * (1 + A[:, :1] ** 2)).fit(X, y)


@may_reject_all
@pytest.mark.parametrize("machine", MACHINES[:2], ids=lambda machine: type(machine).__name__)
def test_a_function_with_a_norm_is_not(machine):
    X, y = cases(60)
    machine = clone(machine).set_params(kernel=rbf_function).fit(X, y)
    assert machine.dual_gap_ <= 1e-3 * abs(machine.objective_)


@pytest.mark.parametrize("kernel", [rbf_function, "precomputed"], ids=["function", "precomputed"])
@pytest.mark.parametrize("machine", [MACHINES[0], MACHINES[1]], ids=lambda machine: type(machine).__name__)
def test_a_kernel_checked_on_some_cases_proves_nothing_without_saying_so(machine, kernel):
    X, y = cases(2100)
    machine = clone(machine).set_params(kernel=kernel)
    given = rbf_function(X, X) if kernel == "precomputed" else X
    with pytest.warns(UserWarning, match=r"is positive semidefinite on 2048 of 2100 training cases: dual_gap_") as said:
        machine.fit(given, y)
    assert [warning.filename for warning in said] == [__file__]
    assert machine.dual_gap_ <= 1e-3 * abs(machine.objective_)
    machine.fit(given, y, sample_weight=np.arange(2100) < 1000)  # so few are checked all


def test_a_negative_eigenvalue_between_the_checked_cases_is_not_certified_silently():
    X, y = cases(2100)
    K = rbf_function(X, X)
    missed = np.setdiff1d(np.arange(2100), sampled_cases(2100))[:2]
    K[np.ix_(missed, missed)] = [[1.0, 3.0], [3.0, 1.0]]  # with the eigenvalue -2
    with pytest.warns(UserWarning, match="prove an optimum only if it is on all of them"):
        DoubleHingeSVC(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("rank", [1, 3])
def test_rounding_is_no_negative_eigenvalue(rank):
    """Matrices of low rank have eigenvalues of 0, some of them negative in floating point."""
    X = np.random.default_rng(0).normal(size=(300, rank))
    for K in (X @ X.T, 1e12 * X @ X.T, 1e-12 * X @ X.T, np.zeros((5, 5)), np.ones((400, 400))):
        require_semidefinite(K, Kernel("precomputed"))


@pytest.mark.parametrize(
    ("degree", "coef0", "known"), [(3, 0.0, True), (2, 1.0, True), (3, -0.5, False), (1.5, 1, False)]
)
def test_what_is_known_of_polynomials(degree, coef0, known):
    X = np.random.default_rng(0).normal(size=(80, 2))
    assert Kernel("poly", 1.0, degree, coef0).semidefinite == known
    if known:
        require_semidefinite(polynomial_kernel(X, degree=degree, coef0=coef0, gamma=1.0), Kernel("precomputed"))
