"""Results of an earlier run count only where the plan is the same."""

import json
from dataclasses import dataclass

from recuse.reproduce.results import read_outcomes, settings, write_results


@dataclass
class Part:
    splits: int
    widths: tuple = (0.1, 1.0)


def test_outcomes_of_parts_planned_as_before_come_back(tmp_path):
    planned = {"a": Part(3), "b": Part(5)}
    outcomes = [{"part": "a", "loss": 0.25}, {"part": "b", "loss": 0.5}]
    data = {"settings": {name: settings(part) for name, part in planned.items()}, "outcomes": outcomes}
    assert read_outcomes(tmp_path / "r.json", planned) == []
    write_results(tmp_path, "r", data, ["# Results", ""])
    assert (tmp_path / "r.md").read_text() == "# Results\n"
    assert json.loads((tmp_path / "r.json").read_text())["outcomes"] == outcomes
    assert read_outcomes(tmp_path / "r.json", planned) == outcomes
    assert read_outcomes(tmp_path / "r.json", planned | {"b": Part(6)}) == outcomes[:1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.md"]
