"""A fit that fails leaves the machine as it was: what is published is computed first and stored last."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from recuse import CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC
from recuse.baselines import EmbeddedRejectSVC, IndependentOneClassSVC
from tests.marks import may_reject_all

MACHINES = [DoubleHingeSVC, DoubleRampSVC, CoupledOneClassSVC, EmbeddedRejectSVC, IndependentOneClassSVC]


def fragile(X, Z):
    """A kernel function that fails on cases of three features, which is after every check of the input."""
    if X.shape[1] == 3:
        raise ArithmeticError("no kernel values")
    return rbf_kernel(X, Z)


def state(machine):
    return {name: value for name, value in vars(machine).items() if name not in machine.get_params()}


@may_reject_all
@pytest.mark.parametrize("Machine", MACHINES)
def test_after_a_failed_fit_the_machine_answers_as_before(Machine, overlapping):
    X, y = overlapping
    machine = Machine(kernel=fragile).fit(X[:, :2], y)
    before, answers = state(machine), machine.predict(X[:, :2])
    other = np.where(y == 1, "yes", "no")
    with pytest.raises(ArithmeticError, match="no kernel values"):
        machine.set_params(costs=0.1).fit(np.column_stack([X[:, :2], X[:, 0]]), other)
    after = state(machine)
    assert before.keys() == after.keys()
    assert all(after[name] is value for name, value in before.items())
    np.testing.assert_array_equal(machine.predict(X[:, :2]), answers)


@pytest.mark.parametrize("Machine", MACHINES)
def test_a_first_fit_that_fails_leaves_nothing(Machine, overlapping):
    X, y = overlapping
    machine = Machine(costs=0.7)
    with pytest.raises(ValueError, match="Rejecting never pays"):
        machine.fit(X, y)
    assert state(machine) == {}
