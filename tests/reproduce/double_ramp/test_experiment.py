import json
from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

from recuse.reproduce import results
from recuse.reproduce.__main__ import main
from recuse.reproduce.double_ramp import experiment, methods, plan
from recuse.reproduce.double_ramp.claims import claims
from recuse.reproduce.pages import claims_table


@pytest.fixture
def small_data(monkeypatch):
    """Data that are always there; the paper's own need files."""
    X, y = load_breast_cancer(return_X_y=True)
    asked = []
    monkeypatch.setattr(experiment, "load", lambda name, return_X_y: (asked.append(name), (X[:120], y[:120]))[1])
    return asked


def test_quick_run_from_the_command_line(small_data, tmp_path, capsys):
    main(["double-ramp", "--quick", "--repetitions", "1", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "label noise 20 %" in printed
    data = json.loads((tmp_path / "reproduce_double_ramp_quick.json").read_text())
    assert len(data["outcomes"]) == 2 * 2 * 4  # noise, prices, methods
    assert all(0 <= risk <= 1 for outcome in data["outcomes"] for risk in outcome["risk"])
    page = (tmp_path / "reproduce_double_ramp_quick.md").read_text()
    assert "| much sparser than DH-SVM and the SVM on ilpd" in page
    assert "Quick run" in page
    assert (tmp_path / "reproduce_double_ramp_quick_noise_20.png").stat().st_size > 1000
    with pytest.raises(SystemExit):
        main(["double-hinge", "--quick", "--repetitions", "2"])


def test_a_stopped_run_goes_on_where_it_was(small_data, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "METHODS", {"SVM": methods.ordinary, "DH-SVM": methods.ordinary})
    monkeypatch.setattr(experiment, "claims", lambda outcomes: [])
    monkeypatch.setattr(experiment, "draw", lambda *arguments: [])
    planned = [replace(part, data=name) for name in ("pima", "ilpd") for part in plan.parts(quick=True)]
    monkeypatch.setattr(experiment, "parts", lambda quick, repetitions: planned[:2])
    first = experiment.run(out=tmp_path)
    monkeypatch.setattr(experiment, "parts", lambda quick, repetitions: planned)
    both = experiment.run(out=tmp_path)
    assert small_data == ["pima"] * 2 + ["ilpd"] * 2
    assert both[: len(first)] == first
    monkeypatch.setattr(experiment, "parts", lambda quick, repetitions: [replace(planned[0], folds=3), planned[1]])
    experiment.run(out=tmp_path)
    assert small_data == ["pima"] * 2 + ["ilpd"] * 2 + ["pima"]  # other settings: run again


def test_the_committed_results_are_those_of_the_code():
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_double_ramp.json").read_text())
    planned = {part.label: results.settings(part) for part in plan.parts(quick=False)}
    assert data["settings"] == {name: planned[name] for name in data["settings"]}
    outcomes = [plan.Outcome(**each) for each in data["outcomes"]]
    page = (folder / "reproduce_double_ramp.md").read_text()
    for line in claims_table(claims(outcomes)):
        assert line in page
    for part in plan.parts(quick=False):
        assert "\n".join(experiment.lines(part, outcomes)) in page
