import json
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from recuse.reproduce import results
from recuse.reproduce.__main__ import main
from recuse.reproduce.consum import experiment, table
from recuse.reproduce.consum.study import CouplingCosts


def test_quick_run_from_the_command_line(monkeypatch, tmp_path, capsys):
    """The whole protocol on data that are always there; the paper's own need files."""
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(table, "load", lambda name, return_X_y: (X[:150], y[:150]))
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


def test_no_time_no_parts(tmp_path):
    assert experiment.run(minutes=-1, out=tmp_path) == []
    assert "Not run for lack of time: wdbc" in (tmp_path / "reproduce_consum.md").read_text()


def test_the_committed_results_are_those_of_the_code(tmp_path):
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_consum.json").read_text())
    kept = results.resume("consum", table.parts(quick=False), table.Outcome, quick=False, out=folder)
    assert [part.label for part in kept.finished()] == list(data["settings"]) == [part.label for part in kept.planned]
    titles = {
        2: "regions",
        3: "rates against the thresholds of CONSUM",
        4: "A, error against rejection; B, cost against C",
    }
    figures = [(f"Figure {number}: {title}", f"{kept.stem}_figure_{number}.png") for number, title in titles.items()]
    experiment.write(tmp_path, kept, [CouplingCosts(**values) for values in data["study"]], figures)
    for file in ("reproduce_consum.md", "reproduce_consum.json"):
        assert (tmp_path / file).read_text() == (folder / file).read_text()
