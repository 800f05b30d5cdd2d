import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from recuse import CoupledOneClassSVC
from recuse.baselines import IndependentOneClassSVC
from recuse.reproduce import consum, consum_figures, consum_study
from recuse.reproduce.__main__ import main
from recuse.reproduce.consum_prices import scores_of


def test_prices_are_those_of_table_1():
    answers = np.array([0, 1, 2, 3, 1, 2, 3, 0])
    truth = np.array([0, 0, 0, 1, 2, 2, 2, 2])
    assert consum.cost_of(answers, truth) == (0 + 4 + 1 + 1 + 4 + 0 + 0 + 4) / 8


def test_quick_run_from_the_command_line(monkeypatch, tmp_path, capsys):
    """The whole protocol on data that are always there; the paper's own need files."""
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(consum, "load", lambda name, return_X_y: (X[:150], y[:150]))
    main(["consum", "--quick", "--out", str(tmp_path)])
    assert "paper 0.194" in capsys.readouterr().out
    data = json.loads((tmp_path / "reproduce_consum_quick.json").read_text())
    assert len(data["outcomes"]) == 2 * 2 * 3 * 3
    assert all(0 <= outcome["cost"] <= 4 for outcome in data["outcomes"])
    page = (tmp_path / "reproduce_consum_quick.md").read_text()
    assert "quick run" in page
    assert "reproduced" in page
    assert "## When the coupling helps" in page
    assert {c["scenario"] for c in data["study"]} == {"none", "ambiguity", "both"}
    for number in (2, 3, 4):
        file = f"reproduce_consum_quick_figure_{number}.png"
        assert f"]({file})" in page
        assert (tmp_path / file).stat().st_size > 10_000


@pytest.mark.parametrize("pair", [CoupledOneClassSVC, IndependentOneClassSVC])
def test_rates_of_figure_3_are_those_of_the_decisions(pair):
    X, y = consum_figures.training_cases()
    X_test, y_test = consum_figures.unseen_cases()
    model = pair(gamma=0.5).fit(X, y)
    own = np.array([model.rho_negative_, model.rho_positive_])
    rates = consum_figures.threshold_rates(scores_of(model, X_test), y_test, own)
    answers = consum.answers_of(model, X_test)
    # Row 0 has rho-, column 1 has rho+.
    assert rates["ambiguous"][0, 1] == np.mean(answers == 2)
    assert rates["novel"][0, 1] == np.mean(answers == 3)
    assert rates["wrong"][0, 1] == np.mean((answers < 2) & (answers != y_test))
    ends = consum_figures.threshold_rates(scores_of(model, X_test), y_test, np.array([-1.0, 9.0]))
    assert ends["ambiguous"][0, 0] == ends["novel"][1, 1] == 1  # not the reverse, as the paper's text has it
    assert ends["wrong"][0, 1] == np.mean(y_test != 0)
    assert ends["wrong"][1, 0] == np.mean(y_test != 1)


def test_front_of_figure_4():
    rejection, error = consum_figures.front(np.array([0.2, 0.1, 0.15, 0.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    np.testing.assert_array_equal(rejection, [0.0])  # 0.1 of the accepted half is as bad as 0.2 of all
    np.testing.assert_array_equal(error, [0.2])


def test_study_measures_what_it_says():
    situation = consum_study.Situation("wide", 2.0, 0.2, 3.0)
    X, y = consum_study.cases(situation, 20_000, 0)
    assert y.mean() == 0.2
    np.testing.assert_allclose(X[y == 1].std(axis=0), 3.0, rtol=0.05)
    np.testing.assert_allclose(X[y == 0].std(axis=0), 1.0, rtol=0.05)
    assert np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) == pytest.approx(2.0, abs=0.1)
    found = consum_study.compare(situation, 0, (1.0,), (10.0,))
    assert [c.scenario for c in found] == ["none", "ambiguity", "both"]
    for comparison in found:
        assert comparison.grid == [[round(comparison.alone, 4), round(comparison.coupled, 4)]]
    # Costs in the scenario, from the estimator itself, on the test draw.
    X, y = consum_study.cases(situation, consum_study.N_TRAIN, 0)
    X_test, y_test = consum_study.cases(situation, consum_study.N_OTHER, 2)
    model = CoupledOneClassSVC(consum.COSTS, C=10.0, gamma=0.2, rejection="ambiguity").fit(X, y)
    assert found[1].coupled == pytest.approx(consum.cost_of(consum.answers_of(model, X_test), y_test))


def test_no_time_no_parts(tmp_path):
    assert consum.run(minutes=-1, out=tmp_path) == []
    assert "Not run, for want of time: wdbc" in (tmp_path / "reproduce_consum.md").read_text()
