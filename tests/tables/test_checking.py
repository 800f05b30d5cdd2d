"""What a table is read as, and what in it would mislead."""

import json

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main
from recuse.tables import check_cases, check_table
from recuse.tables.hints import leak_hints, told_by


def loans(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    income, town = rng.gamma(2, 9_000, n).round(1), rng.choice(["Ulm", "Bonn"], n)
    return pd.DataFrame({"income": income, "town": town, "y": np.array(["no", "yes"])[y]})


def test_types_missing_values_and_writings(tmp_path):
    frame = loans()
    frame["since"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%d.%m.%Y")
    frame.loc[:4, "town"] = None
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    facts = check_table(tmp_path / "t.csv", "y")
    found = {column.name: column for column in facts.columns}
    assert {name: column.kind for name, column in found.items()} == {
        "income": "number", "town": "text", "y": "text", "since": "date",
    }  # fmt: skip
    assert (found["income"].written, found["since"].written, found["town"].written) == ("1.234,5", "31.12.2024", None)
    assert (found["town"].missing, found["town"].distinct) == (5, 2)
    assert facts.outcome == {"no": 60, "yes": 60}
    assert facts.findings == []
    assert json.loads(json.dumps(facts.as_dict()))["rows"] == 120


def test_whole_numbers_are_shown_in_full_and_are_written_as_everywhere(tmp_path):
    frame = loans().assign(customer=np.arange(10_023_411, 10_023_531), wealth=np.linspace(0.5, 2_345_678.9, 120))
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    lines = [line.split("  ", 2)[-1].strip() for line in check_table(tmp_path / "t.csv").lines()]
    assert "number; 120 different: 10,023,411 to 10,023,530" in lines
    assert "number, written like 1.234,5; 120 different: 0.5 to 2,345,679" in lines


def test_dates_are_offered_for_a_comparison_over_time():
    frame = loans().assign(when=pd.date_range("2024-01-01", periods=120).astype(str), once="2024-05-01")
    facts = check_table(frame, "y")
    assert [text for text in facts.lines() if text.startswith("?")] == [f"? {text}" for text in facts.advice]
    (advice,) = facts.advice
    assert "--time when" in advice
    assert not any("when" in finding for finding in facts.findings)  # nothing is wrong with it
    assert "2024-01-01 to 2024-04-29" in "\n".join(facts.lines())
    assert check_table(frame, "y", drop=("when",)).advice == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"id": range(120)}, "column 'id' holds a different value in every row and looks like an identifier"),
        ({"same": 1}, "column 'same' holds the same in every row and tells nothing"),
        ({"late": lambda t: t["y"].map({"no": "paid", "yes": "late"})}, "column 'late' almost is the outcome"),
        ({"y": lambda t: t["y"].where(np.arange(120) > 9)}, "10 rows have no y and would be set aside"),
        ({"y": lambda t: np.resize(["a", "b", "c"], 120)}, "name the positive one, as in --positive c"),
        ({"y": lambda t: ["yes"] * 12 + ["no"] * 108}, "one outcome has fewer than 30 cases"),
    ],
)
def test_findings(change, finding):
    found = check_table(loans().assign(**change), "y").findings
    assert len(found) == 1
    assert finding in found[0]


def test_hints_come_beside_what_cannot_be_compared_yet():
    """Three outcomes, none of them named: identifiers and words among numbers are told all the same."""
    table = loans().assign(y=np.resize(["a", "b", "c"], 120), income=["n.k.", *map(str, range(119))])
    table.insert(0, "Encounter ID", range(7, 847, 7))
    found = check_table(table, "y").findings
    for text in ("--positive c", "--missing n.k.", "'Encounter ID'"):
        assert any(text in finding for finding in found)


def test_copies_are_found():
    frame = loans().assign(debt=np.random.default_rng(1).gamma(2, 500, 120).round(1))
    assert "3 rows repeat an earlier row" in check_table(pd.concat([frame, frame[:3]]), "y").findings[0]


def test_the_command_and_its_exit_codes(tmp_path, capsys):
    loans().to_csv(tmp_path / "fine.csv", index=False)
    loans().assign(id=range(120)).to_csv(tmp_path / "id.csv", index=False)
    for arguments, code in [
        (["fine.csv", "-t", "y"], 0),
        (["id.csv", "-t", "y"], 3),
        (["id.csv", "-t", "y", "--drop", "id"], 0),
        (["id.csv", "--json"], 3),
        (["none.csv"], 1),
    ]:
        with pytest.raises(SystemExit) as stop:
            main(["check", str(tmp_path / arguments[0]), *arguments[1:]])
        captured = capsys.readouterr()
        assert (stop.value.code or 0) == code
        if "--json" in arguments:
            assert json.loads(captured.out)["findings"]
        elif code != 1:
            assert ("! " in captured.out) == (code == 3)
        else:
            assert captured.err.count("\n") == 1


# Columns that almost are the outcome


def best_cut(values, positive):
    """By brute force: the best share of both classes, right on one side of a cut."""
    shares = [
        (np.mean(sign * values[positive] > sign * cut) + np.mean(sign * values[~positive] <= sign * cut)) / 2
        for cut in [*values, -np.inf, np.inf]
        for sign in (1, -1)
    ]
    return max(shares)


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(60) < 0.4
    values = np.round(rng.normal(size=60) + positive, 1)
    assert told_by(pd.Series(values), positive) == pytest.approx(best_cut(values, positive))


def test_an_identifier_in_the_order_of_the_outcome_is_a_leak():
    """A number that was given after the outcome was known."""
    frame = loans().sort_values("y").assign(number=np.arange(120) * 7 + 3)
    (hint,) = leak_hints(check_cases(frame, "y"))
    assert "column 'number' almost is the outcome" in hint
    assert leak_hints(check_cases(loans(), "y")) == []


def test_many_rare_values_are_not_a_leak():
    """Each tells its few cases by chance."""
    frame = loans().assign(note=[f"seen {i // 2}" for i in range(120)])
    assert leak_hints(check_cases(frame, "y")) == []
