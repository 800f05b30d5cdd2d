"""A model on new cases with known outcomes: every figure equals a hand count."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs
from recuse.cli import main
from recuse.evaluating import evaluate_table
from recuse.metrics import expected_cost
from recuse.tables import TableColumns
from tests.comparison.conftest import mixed_table

COSTS = Costs(fp=1, fn=3, reject_negative=0.3, reject_positive=0.2)


@pytest.fixture(scope="module")
def model():
    return recuse.fit(mixed_table(), "default", COSTS, method="logistic-chow", positive="bad")


def test_an_outcome_that_is_not_there_is_told_with_all_columns_of_the_table(model):
    frame = mixed_table(60, seed=3).drop(columns="default").assign(entscheidung="yes")
    with pytest.raises(ValueError, match=r"table has no column 'Ergebnis' to predict: it has .*'entscheidung'\]\.$"):
        evaluate_table(model, frame, "Ergebnis")


def test_figures_are_hand_counts(model):
    frame = mixed_table(200, seed=3)
    found = evaluate_table(model, frame, "default")
    decisions = recuse.decide(model, frame)
    bad = (frame["default"] == "bad").to_numpy()
    wrong = decisions.accepted & (decisions.forced != frame["default"])
    assert (found.cases, found.positives, found.set_aside) == (200, bad.sum(), 0)
    assert found.cost.value == pytest.approx(expected_cost(frame["default"], decisions))
    assert found.never_reject == pytest.approx(
        expected_cost(frame["default"], decisions.forced, costs=COSTS, pos_label="bad")
    )
    assert found.review_all == pytest.approx(np.where(bad, 0.2, 0.3).mean())
    assert found.coverage.value == pytest.approx(decisions.accepted.mean())
    assert found.error.value == pytest.approx(wrong.sum() / decisions.accepted.sum())
    assert (found.misses, found.false_alarms) == ((wrong & bad).sum(), (wrong & ~bad).sum())
    for interval in (found.cost, found.coverage, found.error):
        assert 0 <= interval.low <= interval.value <= interval.high
    assert sum(part.cases for part in found.calibration) == 200
    assert found.mean_probability == pytest.approx(
        np.average([p.predicted for p in found.calibration], weights=[p.cases for p in found.calibration])
    )
    assert bad.mean() == pytest.approx(
        np.average([p.observed for p in found.calibration], weights=[p.cases for p in found.calibration])
    )


@pytest.mark.filterwarnings("default:values that the training table never had")
@pytest.mark.parametrize(
    "answer", [recuse.decide, recuse.score_batch, lambda model, frame: evaluate_table(model, frame, "default")]
)
def test_values_never_seen_are_named_once_and_nothing_else_is_said(model, answer):
    """Warnings of scikit-learn, which name a column by its number, would be errors here."""
    frame = mixed_table(60, seed=3)
    answer(model, frame)  # nothing to say
    frame.loc[[4, 30], "town"] = "Köln"
    with pytest.warns(
        UserWarning, match="never had: town = 'Köln' \\(2 cases, the first is case 5\\): the model"
    ) as said:
        answer(model, frame)
    assert len(said) == 1
    assert said[0].filename == __file__


def test_a_model_that_does_not_remember_its_table_says_nothing_of_new_values():
    """Such as those of a cross-validation: what is new to a part of a table is not new."""
    columns = TableColumns().fit(mixed_table())
    assert columns.told_of_unseen(columns.transform(mixed_table().assign(town="Köln"))) is None


def test_one_error_is_said_in_the_singular(model):
    found = evaluate_table(model, mixed_table(200, seed=3), "default")
    for counts, said in {(1, 1): "; 1 miss, 1 false alarm", (0, 1_234): "; 0 misses, 1,234 false alarms"}.items():
        lines = list(replace(found, misses=counts[0], false_alarms=counts[1]).lines())
        assert lines[3].endswith(said)


def test_rows_without_an_outcome_are_set_aside(model):
    frame = mixed_table(200, seed=3)
    frame.loc[::4, "default"] = None
    found = evaluate_table(model, frame, "default")
    assert (found.cases, found.set_aside) == (150, 50)
    rest = frame.dropna(subset="default")
    assert found.cost.value == pytest.approx(evaluate_table(model, rest, "default").cost.value)


def test_a_model_of_one_class_against_the_rest():
    frame = mixed_table().assign(default=lambda t: t["default"].where(t.index % 5 > 0, "unknown"))
    model = recuse.fit(frame, "default", COSTS, method="logistic-chow", positive="bad")
    with pytest.warns(
        UserWarning, match=r"^the table holds cases that the model was fitted on \(about 100% of its training table\)"
    ):
        found = evaluate_table(model, frame, "default")
    assert found.positives == (frame["default"] == "bad").sum()


def test_other_outcomes_are_refused(model):
    for labels in (["bad", "fine"], ["bad", "good", "unknown"]):
        frame = mixed_table().assign(default=lambda t, labels=labels: np.resize(labels, len(t)))
        with pytest.raises(ValueError, match=r"and the model was fitted with 'bad', 'good': name the column with"):
            evaluate_table(model, frame, "default")
    with pytest.raises(ValueError, match="has no column 'nothing' to predict"):
        evaluate_table(model, mixed_table(), "nothing")


def test_the_command(model, tmp_path, capsys):
    recuse.save(model, tmp_path / "m.skops")
    mixed_table(200, seed=3).to_csv(tmp_path / "t.csv", index=False)
    command = ["evaluate", str(tmp_path / "m.skops"), str(tmp_path / "t.csv"), "-t", "default"]
    for arguments in (command, [*command, "--json"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code
        out = capsys.readouterr().out
        if "--json" in arguments:
            expected = evaluate_table(model, mixed_table(200, seed=3), "default")
            assert json.loads(out)["cost"]["value"] == pytest.approx(expected.cost.value)
        else:
            assert "cost per case" in out
            assert "came true in" in out


def test_a_model_without_probabilities():
    model = recuse.fit(mixed_table(), "default", COSTS, method="exactboost", positive="bad")
    found = evaluate_table(model, mixed_table(seed=3), "default")
    assert found.calibration == [] or found.mean_probability is not None
    assert pd.notna(found.cost.value)
