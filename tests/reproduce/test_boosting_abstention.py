"""The experiment runs end to end on a few cases, and its page shows the right sums."""

import json
from pathlib import Path

import pytest

from recuse.reproduce import PROTOCOLS
from recuse.reproduce.__main__ import main
from recuse.reproduce.boosting_abstention import CHOW, DEFAULT, PRINTED, Outcome, _synthetic_gain, page


def test_quick_run(data_folder, tmp_path, capsys):
    main(["boosting-abstention", "--quick", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "reproduce_boosting_abstention_quick.json").read_text())
    losses = {row["method"]: row["loss"] for row in results["losses"]}
    assert {DEFAULT, CHOW, PRINTED, "TSB, T tuned", "logistic regression + Chow"} <= set(losses)
    assert all(0 <= loss <= 1 for loss in losses.values())
    assert "reproduced" in capsys.readouterr().out


def test_unknown_paper_is_refused():
    assert "boosting-abstention" in PROTOCOLS
    with pytest.raises(SystemExit):
        main(["no-such-paper"])


def test_printed_step_is_chosen_by_validation():
    rows = []
    for split in (0, 1):
        about = {"data": "d", "split": split, "c": 0.2}
        names = (DEFAULT, CHOW, "TSB, T tuned", "TSB, T = 200", "BA, exact steps", "logistic regression + Chow")
        rows += [about | {"method": name, "loss": 0.1, "chosen": "chow"} for name in names]
        rows.append(about | {"method": PRINTED, "gamma": 0.08, "beta": 0.0, "validation": 0.3, "loss": 0.05})
        rows.append(about | {"method": PRINTED, "gamma": 0.48, "beta": 0.0, "validation": 0.2, "loss": 0.15})
    text = page([Outcome(**row) for row in rows], [])
    assert "| BA, printed step | 0.1500 | 0.1500 |" in text
    assert "higher in 1 cells" in text


def test_the_synthetic_gain_is_shown_for_all_draws():
    synthetic = [
        Outcome("d", split, c, method, loss)
        for split, ours in ((0, 0.12), (1, 0.15))
        for c in (0.1, 0.2)
        for method, loss in ((DEFAULT, ours), (CHOW, 0.2))
    ]
    assert f"default 0.1350, {CHOW} 0.2000: 32% lower, by draw 25% to 40%" in _synthetic_gain(synthetic)


def test_the_committed_page_is_that_of_the_committed_results():
    folder = Path(__file__).parents[2] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_boosting_abstention.json").read_text())
    outcomes, synthetic = ([Outcome(**values) for values in data[kind]] for kind in ("losses", "synthetic"))
    assert page(outcomes, synthetic) == (folder / "reproduce_boosting_abstention.md").read_text()
    assert [outcome.to_dict() for outcome in outcomes] == data["losses"]
