"""Features too large to be squared: refused by every machine, however many cases there are."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from recuse import CoupledOneClassSVC, DoubleHingeSVC
from recuse.svm import double_hinge_path

from .test_failed_fit import MACHINES

# On both sides of where the machines stop holding the whole kernel matrix.
SIZES = [200, 499, 501, 1000, 2047, 2049]


def cases(n, largest):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 2 * y[:, None]
    X[3, 0] = largest
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("largest", [1e160, -1e200])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("Machine", MACHINES)
def test_values_that_overflow_are_refused(Machine, n, largest, kernel, form):
    X, y = cases(n, largest)
    with pytest.raises(ValueError, match=rf"X must hold values up to 1e\+150 for kernel='{kernel}'.*Standardise"):
        Machine(kernel=kernel).fit(form(X), y)


def test_a_path_refuses_them_too():
    with pytest.raises(ValueError, match="X must hold values up to"):
        double_hinge_path(*cases(60, 1e160), [1.0])


@pytest.mark.parametrize("n", [200, 1000, 2100])
@pytest.mark.parametrize("Machine", [CoupledOneClassSVC, DoubleHingeSVC])
def test_values_just_below_do_not_overflow(Machine, n):
    X, y = cases(n, 1e149)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", message=".*rejects every training case")  # gamma='scale': one case is far
        machine = Machine().fit(X, y)
        assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize("Machine", MACHINES)
def test_a_scale_without_a_gamma_is_refused(Machine):
    X, y = cases(60, 1.0)
    with pytest.raises(ValueError, match=r"gamma='scale' must give a number greater than 0; got inf"):
        Machine(kernel="rbf").fit(X * 1e-157, y)


def test_a_function_and_a_matrix_of_large_values_are_their_own_affair():
    X, y = cases(60, 1e160)
    own = DoubleHingeSVC(kernel=lambda A, B: np.exp(-0.5 * np.abs(A[:, :1] - B[:, :1].T).clip(max=1e3)))
    assert own.fit(X, y).dual_gap_ <= 1e-3 * abs(own.objective_)
