"""The experiment runs end to end on a few cases, and its page shows the right sums."""

import json
from pathlib import Path

import numpy as np
import pytest

from recuse.reproduce import PROTOCOLS
from recuse.reproduce.__main__ import main
from recuse.reproduce.boosting_abstention import experiment
from recuse.reproduce.boosting_abstention.experiment import page
from recuse.reproduce.boosting_abstention.outcomes import (
    DEFAULT,
    DHL,
    EXACT,
    PRINTED,
    SEARCHED,
    STUMPS,
    TRAINED_ON_60,
    TSB_FIXED,
    Outcome,
    best_of_search,
)
from recuse.reproduce.boosting_abstention.tables import _synthetic_gain, claims
from recuse.reproduce.pages import NO, NOT_MEASURED, NOT_SETTLED, YES


def test_quick_run(data_folder, tmp_path, capsys):
    main(["boosting-abstention", "--quick", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "reproduce_boosting_abstention_quick.json").read_text())
    losses = {row["method"]: row["loss"] for row in results["losses"]}
    assert {DEFAULT, STUMPS, PRINTED, SEARCHED, "TSB, T tuned", "logistic regression + Chow"} <= set(losses)
    assert all(0 <= loss <= 1 for loss in losses.values())
    said = capsys.readouterr().out
    assert "reproduced" in said
    assert f"| {TRAINED_ON_60} |" in said


def test_unknown_paper_is_refused():
    assert "boosting-abstention" in PROTOCOLS
    with pytest.raises(SystemExit):
        main(["no-such-paper"])


def search(split, gamma, validation, loss, c=0.2):
    return Outcome("haberman", split, c, SEARCHED, loss, gamma=gamma, beta=0.0, validation=validation)


def test_printed_step_is_chosen_by_validation():
    rows = []
    for split in (0, 1):
        about = {"data": "haberman", "split": split, "c": 0.2}
        names = (DEFAULT, STUMPS, "TSB, T tuned", TSB_FIXED, EXACT, "logistic regression + Chow")
        rows += [Outcome(**about, method=name, loss=0.1, chosen="chow") for name in names]
        rows += [search(split, 0.08, 0.3, 0.05), search(split, 0.48, 0.2, 0.15)]
        rows.append(Outcome(**about, method=PRINTED, loss=0.125, gamma=0.48, beta=0.0))
    text = page(rows, [])
    assert f"| {TRAINED_ON_60} | 0.1500 | 0.1500 |" in text
    assert f"| {PRINTED} | 0.1250 | 0.1250 |" in text
    assert f"{PRINTED}: lower mean loss in 0, equal in 0, higher in 1 cells" in text  # not the row of fewer cases


def test_the_printed_step_is_fitted_to_as_many_cases_as_its_rivals(data_folder, monkeypatch):
    seen = {}

    def spy(name, function):
        def called(*arguments):
            seen.setdefault(name, []).append(arguments)
            return function(*arguments)

        return called

    monkeypatch.setattr(experiment, "_fit_printed_step", spy("printed", experiment._fit_printed_step))
    monkeypatch.setattr(experiment, "_self_tuned", spy("others", lambda cell, train, test, quick: []))
    outcomes = experiment.run_cell(experiment.Cell("haberman", 0, 0.2), quick=True)
    (found,) = experiment.fit_best_printed_step(outcomes)
    (_, rivals, rivals_test, _), (searched, fitted) = seen["others"][0], seen["printed"]
    n = 306
    assert len(rivals.y) == len(fitted[3].y) == n - n // 5
    assert len(searched[3].y) == n - 2 * (n // 5)
    np.testing.assert_array_equal(rivals.X, fitted[3].X)
    assert fitted[:3] == searched[:3] == (0.2, found.gamma, found.beta)
    # The test cases are those of the rivals, and none of them was trained on.
    everything = np.concatenate([rivals_test.X, rivals.X])
    np.testing.assert_array_equal(
        np.sort(everything, axis=0), np.sort(experiment.load("haberman", return_X_y=True)[0], axis=0)
    )


def test_the_best_setting_is_that_of_the_mean_over_partitions():
    rows = [search(0, 0.08, 0.1, 0.5), search(1, 0.08, 0.5, 0.5), search(0, 0.48, 0.2, 0.4), search(1, 0.48, 0.3, 0.4)]
    rows += [search(0, 0.08, 0.1, 0.5, c=0.3), search(0, 0.48, 0.2, 0.4, c=0.3)]
    best = best_of_search(rows)
    assert [(o.split, o.gamma, o.c) for o in best] == [(0, 0.48, 0.2), (1, 0.48, 0.2), (0, 0.08, 0.3)]


@pytest.mark.parametrize(
    ("losses", "against_tsb", "against_dhl"),
    [
        ([0.1] * 7, YES, YES),
        ([0.1] * 6 + [0.9], NO, NOT_SETTLED),  # "in all cases" fails at one; 6 of 7 have p = 0.125
        ([0.1] * 4 + [0.9] * 3, NO, NOT_SETTLED),
        ([0.9] * 7, NO, NO),
    ],
)
def test_claims_are_settled_by_data_sets(losses, against_tsb, against_dhl):
    rows = []
    for k, loss in enumerate(losses):
        for c in (0.1, 0.2):
            for split in (0, 1):
                rows += [Outcome(f"set {k}", split, c, PRINTED, loss)]
                rows += [Outcome(f"set {k}", split, c, rival, 0.5) for rival in (TSB_FIXED, DHL)]
    found = claims(rows)
    assert [claim.verdict for claim in found] == [against_tsb, NOT_MEASURED, against_dhl, NOT_MEASURED]
    assert f"lower mean loss in {2 * losses.count(0.1)}, equal in 0" in found[0].evidence
    assert f"on {losses.count(0.1)} of 7 sets" in found[0].evidence


def test_the_synthetic_gain_is_shown_for_all_draws():
    synthetic = [
        Outcome("d", split, c, method, loss)
        for split, ours in ((0, 0.12), (1, 0.15))
        for c in (0.1, 0.2)
        for method, loss in ((DEFAULT, ours), (STUMPS, 0.2))
    ]
    assert f"default 0.1350, {STUMPS} 0.2000: 32% lower, by draw 25% to 40%" in _synthetic_gain(synthetic)


def test_the_committed_page_is_that_of_the_committed_results():
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_boosting_abstention.json").read_text())
    outcomes, synthetic = ([Outcome(**values) for values in data[kind]] for kind in ("losses", "synthetic"))
    committed = (folder / "reproduce_boosting_abstention.md").read_text()
    assert page(outcomes, synthetic, remark=data.get("remark", "")) == committed
    assert [outcome.to_dict() for outcome in outcomes] == data["losses"]
    fitted = {(o.data, o.split, o.c, o.gamma, o.beta) for o in outcomes if o.method == PRINTED}
    assert fitted == {(o.data, o.split, o.c, o.gamma, o.beta) for o in best_of_search(outcomes)}
