import json

import numpy as np
from sklearn.datasets import load_breast_cancer

from recuse.reproduce import consum
from recuse.reproduce.__main__ import main


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


def test_no_time_no_parts(tmp_path):
    assert consum.run(minutes=-1, out=tmp_path) == []
    assert "Not run, for want of time: wdbc" in (tmp_path / "reproduce_consum.md").read_text()
