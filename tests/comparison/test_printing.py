"""The leaderboard on the terminal and as JSON: counts behind shares, bounds behind zeros, the choice as its own row."""

import json
import re

import numpy as np
import pytest

import recuse
from recuse.comparison.printing import leaderboard_json, print_leaderboard


@pytest.fixture
def lines(comparison, capsys):
    print_leaderboard(comparison)
    return capsys.readouterr().out.splitlines()


def line_of(lines, name):
    return next(line for line in lines if line.startswith(f"{name} "))


def test_shares_come_with_counts_and_errors_with_the_cases_they_could_happen_in(comparison, lines):
    for row in comparison.rows:
        line, counts, n = line_of(lines, row.name), row.counts, len(comparison.positive)
        assert f"{counts.answered:.0f} ({row.coverage:.1%})" in line
        assert f"{n * row.ambiguity:.0f} ({row.ambiguity:.1%})" in line
        for errors, cases in ((counts.misses, counts.positives), (counts.false_alarms, counts.negatives)):
            mark = "*" if errors.value < 10 and errors.high > 0 else ""
            bound = f" (up to {errors.high:.1f})" if errors.value == 0 and errors.high > 0 else ""
            assert f" {errors.value:.0f}{mark} of {cases:.0f}{bound}" in line
        if counts.positives:
            assert f" {counts.recall:.1%} " in line
    assert any(line.startswith("* fewer than ten errors of this kind") for line in lines)


def test_the_choice_is_a_row_with_its_corrected_cost(comparison, lines):
    value, low, high = comparison.verdict.cost
    line = line_of(lines, f"chosen: {comparison.verdict.chosen}")
    assert re.search(rf" {value:.4f} +{low:.4f} - {high:.4f} +corrected for the choice", line)
    facts = json.loads(leaderboard_json(comparison))
    assert facts["choice"]["method"] == comparison.verdict.chosen
    assert [facts["choice"][key] for key in ("cost", "cost_low", "cost_high")] == pytest.approx([value, low, high])
    assert facts["choice"]["difference"] is None
    assert facts["constant"] == {
        "kept": not comparison.verdict.model_chosen,
        "saved": pytest.approx(list(comparison.verdict.constant.saved)),
    }
    assert facts["signal"] == {
        "found": comparison.verdict.found_signal,
        "saved": pytest.approx(list(comparison.verdict.signal.saved)),
    }


@pytest.mark.parametrize(("reject", "says"), [(0.01, True), (0.4, False)])
def test_a_model_that_answers_all_cases_alike_is_called_that(tmp_path, capsys, reject, says):
    """Who goes on to rank cases with it shall know before."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    positive = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)
    result = recuse.compare(X, positive, costs=reject, methods=["logistic-chow"], cv=2, repeats=1)
    (tmp_path / "model.skops").touch()
    (tmp_path / "summary.json").write_text("{}")
    print_leaderboard(result, tmp_path)
    sentence = "model.skops gives every case the same answer, 'Manual review of every case'"
    assert (sentence in capsys.readouterr().out) is says
