"""The reproduction runs end to end on a few cases, and sums up right."""

import json

import numpy as np
import pytest

from recuse.reproduce import PROTOCOLS
from recuse.reproduce.__main__ import main
from recuse.reproduce.boosting_abstention import DEFAULT, PRINTED, TWIN, _synthetic_lines, paired, summary


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(306, 3)).round(3)
    order = rng.permutation(306)
    y = np.zeros(306, dtype=int)
    y[np.argsort(-(X[:, 0] + rng.normal(size=306)))[:81]] = 1
    lines = ["age,operation_year,positive_nodes,target"]
    lines += [",".join(map(str, [*X[i], y[i]])) for i in order]
    import gzip

    with gzip.open(tmp_path / "haberman.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    monkeypatch.setenv("RECUSE_DATA", str(tmp_path))
    return tmp_path


def test_quick_run(data_folder, tmp_path, capsys):
    main(["boosting-abstention", "--quick", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "reproduce_boosting_abstention_quick.json").read_text())
    losses = {row["method"]: row["loss"] for row in results["losses"]}
    assert {DEFAULT, TWIN, PRINTED, "TSB, T tuned", "logistic regression + Chow"} <= set(losses)
    assert all(0 <= loss <= 1 for loss in losses.values())
    assert "reproduced" in capsys.readouterr().out


def test_unknown_paper_is_refused():
    assert "boosting-abstention" in PROTOCOLS
    with pytest.raises(SystemExit):
        main(["no-such-paper"])


def test_paired_differences():
    table = {"a": {"s": np.array([1.0, 2.0]), "t": np.array([1.0, 1.0])}, "b": {"s": np.zeros(2), "t": np.zeros(2)}}
    mean, error = paired(table, "a", "b")
    assert mean == 1.25
    assert np.isclose(error, np.sqrt(np.std([1, 2], ddof=1) ** 2 / 2) / 2)


def test_printed_step_is_chosen_by_validation():
    rows = []
    for split in (0, 1):
        about = {"data": "d", "split": split, "c": 0.2}
        names = (DEFAULT, TWIN, "TSB, T tuned", "TSB, T = 200", "BA, exact steps", "logistic regression + Chow")
        rows += [about | {"method": name, "loss": 0.1, "chosen": "chow"} for name in names]
        rows.append(about | {"method": PRINTED, "gamma": 0.08, "beta": 0.0, "validation": 0.3, "loss": 0.05})
        rows.append(about | {"method": PRINTED, "gamma": 0.48, "beta": 0.0, "validation": 0.2, "loss": 0.15})
    page = summary(rows, [])
    assert "| BA, printed step | 0.1500 | 0.1500 |" in page
    assert "higher in 1 cells" in page


def test_the_synthetic_gain_is_told_by_draw():
    synthetic = [
        {"data": "d", "split": split, "c": c, "method": method, "loss": loss}
        for split, ours in ((0, 0.12), (1, 0.15))
        for c in (0.1, 0.2)
        for method, loss in ((DEFAULT, ours), (TWIN, 0.2))
    ]
    (line,) = _synthetic_lines(synthetic)
    assert "default 0.1350, twin 0.2000: 32% lower, by draw 25% to 40%" in line
