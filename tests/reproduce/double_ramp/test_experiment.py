import json
from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

from recuse.reproduce import results
from recuse.reproduce.__main__ import main
from recuse.reproduce.double_ramp import experiment, methods, plan


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


def test_the_committed_page_is_that_of_the_committed_results():
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_double_ramp.json").read_text())
    kept = results.resume("double-ramp", plan.parts(quick=False), plan.Outcome, quick=False, out=folder)
    assert kept.data() == data
    figures = [(f"Label noise {rate} %", f"reproduce_double_ramp_noise_{rate}.png") for rate in (0, 10, 20, 30)]
    assert all((folder / file).exists() for _, file in figures)
    assert "\n".join(experiment.page(kept, figures)) == (folder / "reproduce_double_ramp.md").read_text()
