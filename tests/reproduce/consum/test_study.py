import numpy as np
import pytest

from recuse import CoupledOneClassSVC
from recuse.reproduce.consum import study
from recuse.reproduce.consum.scenarios import COSTS, answers_of, cost_of


def test_study_measures_what_it_says():
    situation = study.Situation("wide", 2.0, 0.2, 3.0)
    X, y = study.cases(situation, 20_000, 0)
    assert y.mean() == 0.2
    np.testing.assert_allclose(X[y == 1].std(axis=0), 3.0, rtol=0.05)
    np.testing.assert_allclose(X[y == 0].std(axis=0), 1.0, rtol=0.05)
    assert np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) == pytest.approx(2.0, abs=0.1)
    found = study.compare(situation, 0, (1.0,), (10.0,))
    assert [c.scenario for c in found] == ["none", "ambiguity", "both"]
    for comparison in found:
        assert comparison.grid == [[round(comparison.alone, 4), round(comparison.coupled, 4)]]
    # Costs in the scenario, from the estimator itself, on the test draw.
    X, y = study.cases(situation, study.N_TRAIN, 0)
    X_test, y_test = study.cases(situation, study.N_OTHER, 2)
    model = CoupledOneClassSVC(COSTS, C=10.0, gamma=0.2, rejection="ambiguity").fit(X, y)
    assert found[1].coupled == pytest.approx(cost_of(answers_of(model, X_test), y_test))
