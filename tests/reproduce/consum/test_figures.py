import numpy as np
import pytest

from recuse import CoupledOneClassSVC
from recuse.baselines import IndependentOneClassSVC
from recuse.reproduce.consum import figures
from recuse.reproduce.consum.scenarios import answers_of, scores_of


@pytest.mark.parametrize("pair", [CoupledOneClassSVC, IndependentOneClassSVC])
def test_rates_of_figure_3_are_those_of_the_decisions(pair):
    X, y = figures.training_cases()
    X_test, y_test = figures.unseen_cases()
    model = pair(gamma=0.5).fit(X, y)
    own = np.array([model.rho_negative_, model.rho_positive_])
    rates = figures.threshold_rates(scores_of(model, X_test), y_test, own)
    answers = answers_of(model, X_test)
    # Row 0 has rho-, column 1 has rho+.
    assert rates["ambiguous"][0, 1] == np.mean(answers == 2)
    assert rates["novel"][0, 1] == np.mean(answers == 3)
    assert rates["wrong"][0, 1] == np.mean((answers < 2) & (answers != y_test))
    ends = figures.threshold_rates(scores_of(model, X_test), y_test, np.array([-1.0, 9.0]))
    assert ends["ambiguous"][0, 0] == ends["novel"][1, 1] == 1  # not the reverse, as the paper's text has it
    assert ends["wrong"][0, 1] == np.mean(y_test != 0)
    assert ends["wrong"][1, 0] == np.mean(y_test != 1)


def test_front_of_figure_4():
    rejection, error = figures.front(np.array([0.2, 0.1, 0.15, 0.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    np.testing.assert_array_equal(rejection, [0.0])  # 0.1 of the accepted half is as bad as 0.2 of all
    np.testing.assert_array_equal(error, [0.2])
