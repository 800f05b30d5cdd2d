import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from recuse import Costs
from recuse.reproduce import results
from recuse.reproduce.__main__ import main
from recuse.reproduce.double_hinge import experiment, plan


def test_the_judge_counts_as_the_paper_does():
    f, y = np.array([2.0, 2.0, 0.0, -2.0, -2.0]), np.array([1, 0, 1, 0, 1])
    loss, rejected, wrong = experiment.judge(f, y, -1, 1, Costs(fp=1, fn=3, reject=0.45))
    assert (loss, rejected, wrong) == pytest.approx(((1 + 0.45 + 3) / 5, 0.2, 0.4))


def test_quick_run_from_the_command_line(monkeypatch, tmp_path, capsys):
    """The whole protocol on data that are always there; the paper's own need files."""
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(experiment, "load", lambda name, return_X_y: (X[:200], y[:200]))
    main(["double-hinge", "--quick", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "paper 2.9 ± 1.7" in printed
    data = json.loads((tmp_path / "reproduce_double_hinge_quick.json").read_text())
    assert len(data["outcomes"]) == 5 * 2 * 3
    assert all(0 <= outcome["loss"] <= 1 for outcome in data["outcomes"])
    assert not (tmp_path / "reproduce_double_hinge.json").exists()
    page = (tmp_path / "reproduce_double_hinge_quick.md").read_text()
    assert "wdbc, fp 1, fn 1, reject 0.45" in page
    assert "quick run" in page


def test_a_stopped_run_goes_on_where_it_was(monkeypatch, tmp_path):
    planned = [plan.Part(name, plan.SYMMETRIC, ("logistic, Chow",), splits=2) for name in ("wdbc", "pima")]
    X, y = load_breast_cancer(return_X_y=True)
    asked = []
    monkeypatch.setattr(experiment, "load", lambda name, return_X_y: (asked.append(name), (X / X.std(axis=0), y))[1])
    monkeypatch.setattr(experiment, "parts", lambda quick: planned[:1])
    first = experiment.run(out=tmp_path)
    monkeypatch.setattr(experiment, "parts", lambda quick: planned)
    both = experiment.run(out=tmp_path)
    assert asked == ["wdbc", "pima"]
    assert both[:2] == first
    assert len(both) == 4


def test_a_part_with_other_settings_is_run_again(monkeypatch, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    asked = []
    monkeypatch.setattr(experiment, "load", lambda name, return_X_y: (asked.append(name), (X / X.std(axis=0), y))[1])
    for splits, count in ((2, 1), (2, 1), (3, 2)):
        part = plan.Part("wdbc", plan.SYMMETRIC, ("logistic, Chow",), splits=splits)
        monkeypatch.setattr(experiment, "parts", lambda quick, part=part: [part])
        assert len(experiment.run(out=tmp_path)) == splits
        assert len(asked) == count


def test_the_committed_page_is_that_of_the_committed_results():
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_double_hinge.json").read_text())
    kept = results.resume("double-hinge", plan.parts(quick=False), plan.Outcome, quick=False, out=folder)
    assert kept.data() == data
    assert "\n".join(experiment.page(kept)) == (folder / "reproduce_double_hinge.md").read_text()


def test_no_time_no_parts(tmp_path):
    assert experiment.run(minutes=-1, out=tmp_path) == []
    assert "Not run for lack of time: wdbc" in (tmp_path / "reproduce_double_hinge.md").read_text()


def test_differences_from_the_paper_are_named():
    part = plan.Part("wdbc", plan.SYMMETRIC, ("naive",))
    assert "DIFFERS" in experiment._beside_paper(part, "naive", 5.0)
    assert "DIFFERS" not in experiment._beside_paper(part, "naive", 4.0)
