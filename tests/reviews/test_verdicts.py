"""Verdicts back: none lost, none taken in that is wrong, and what spreadsheets do to a file does no harm."""

import json

import pandas as pd
import pytest

from recuse.reviews import ReviewLog, read_verdicts, write_packets

from .conftest import make_cases
from .reviewers import exported, fill_table, read_packet

TRUTH = make_cases(2000, 2).set_index("customer")["outcome"].to_dict()


@pytest.fixture
def log_file(tmp_path):
    return tmp_path / "reviews.jsonl"


@pytest.fixture
def packet(model_file, answers_file, tmp_path, log_file):
    """A packet of some dozen tasks."""
    return write_packets(
        model_file, answers_file, tmp_path, log=log_file, capacity=25, audit=0.01, seed=1, reviewers=["anna"]
    ).files[0]


def truth_of(table):
    return [TRUTH[shown["customer"]] for shown in table["shown"]]


@pytest.mark.parametrize("format", ["csv", "label-studio", "label-studio minimal"])
def test_thousand_tasks_go_out_and_come_back_and_none_is_lost(model_file, answers_file, tmp_path, log_file, format):
    name, _, minimal = format.partition(" ")
    written = write_packets(model_file, answers_file, tmp_path, log=log_file, audit=0.2, packets=2, format=name)
    for file in written.files:
        if name == "csv":
            fill_table(file, TRUTH)
        else:
            file = exported(file, TRUTH, minimal=bool(minimal))
        taken = read_verdicts(file, log=log_file, reviewer="anna" if name == "csv" else None)
        assert taken.taken > 500
    table = ReviewLog(log_file).to_pandas()
    assert len(table) >= 1000
    assert table["verdict"].tolist() == truth_of(table)
    assert taken.outstanding == 0
    people = {"csv": "anna", "label-studio": "anna@example.org", "label-studio minimal": "4"}
    assert set(table["reviewer"]) == {people[format]}
    if name != "csv":
        assert (table["reviewed_at"] == pd.Timestamp("2026-03-02T09:15:00Z")).all()
    if format == "label-studio":
        assert set(table["note"]) == {"as usual"}


def test_a_packet_that_comes_twice_changes_nothing(packet, log_file):
    fill_table(packet, TRUTH)
    first = read_verdicts(packet, log=log_file)
    content = log_file.read_bytes()
    second = read_verdicts(packet, log=log_file)
    assert (first.known, second.known, second.taken) == (0, first.taken, 0)
    assert log_file.read_bytes() == content
    assert second.head == first.head


def test_a_packet_may_come_back_half_done(packet, log_file):
    whole = read_packet(packet)
    fill_table(packet, TRUTH)
    filled = read_packet(packet)
    filled.loc[10:, "verdict"] = ""
    filled.to_csv(packet, index=False)
    half = read_verdicts(packet, log=log_file)
    assert (half.taken, half.open, half.outstanding) == (10, len(whole) - 10, len(whole) - 10)
    fill_table(packet, TRUTH)
    rest = read_verdicts(packet, log=log_file)
    assert (rest.taken, rest.known, rest.outstanding) == (len(whole) - 10, 10, 0)


def test_who_and_when_are_as_the_row_says_or_else_as_the_packet_was_written_for(packet, log_file):
    fill_table(packet, TRUTH, note="two calls", reviewed_at="2026-03-02 09:15")
    read_verdicts(packet, log=log_file)
    table = ReviewLog(log_file).to_pandas()
    assert set(table["reviewer"]) == {"anna"}
    assert set(table["note"]) == {"two calls"}
    assert (table["reviewed_at"] == pd.Timestamp("2026-03-02T09:15Z")).all()
    fill_table(packet, {name: {"good": "bad", "bad": "good"}[label] for name, label in TRUTH.items()}, reviewer="ben")
    assert read_verdicts(packet, log=log_file, revise=True).revised == len(table)
    assert set(ReviewLog(log_file).to_pandas()["reviewer"]) == {"ben"}


def spoiled(frame, column, value, row=3):
    frame = frame.copy()
    frame.loc[row, column] = value
    return frame


WRONG = {
    "unknown task": (lambda f: spoiled(f, "task", "0123456789abcdef"), "knows no task '0123456789abcdef'"),
    "no class": (lambda f: spoiled(f, "verdict", "perhaps"), "the verdict 'perhaps' is no class: there are"),
    "changed value": (lambda f: spoiled(f, "income", "9.5"), "the column 'income' of task .* and is '9.5' now"),
    "lost column": (lambda f: f.drop(columns="debt"), "the column 'debt' of task .* is gone"),
    "twice": (lambda f: pd.concat([f, f.iloc[[2]]]), "was in .* row 3 already"),
    "twice, differing": (
        lambda f: pd.concat([f, spoiled(f, "verdict", "bad", 2).iloc[[2]]]),
        "was in .* row 3 already",
    ),
    "no time": (lambda f: f.assign(reviewed_at="yesterday evening"), "reviewed_at='yesterday evening' is no time"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_packet_with_anything_wrong_is_refused_as_a_whole(packet, log_file, what):
    spoil, message = WRONG[what]
    fill_table(packet, TRUTH)
    spoil(read_packet(packet)).to_csv(packet, index=False)
    before = log_file.read_bytes()
    with pytest.raises(ValueError, match=message):
        read_verdicts(packet, log=log_file)
    assert log_file.read_bytes() == before


def test_swapped_rows_are_found(packet, log_file):
    """A sort of one column alone puts verdicts beside other cases."""
    fill_table(packet, TRUTH)
    filled = read_packet(packet)
    filled.assign(task=sorted(filled["task"])).to_csv(packet, index=False)
    with pytest.raises(ValueError, match=r"rows cannot be taken in, so that none was: .*; and .* more"):
        read_verdicts(packet, log=log_file)


def test_changed_rows_may_be_accepted_and_are_kept_as_they_came(packet, log_file):
    fill_table(packet, TRUTH)
    filled = spoiled(read_packet(packet), "income", "9.5")
    filled.to_csv(packet, index=False)
    read_verdicts(packet, log=log_file, accept_changed=True)
    table = ReviewLog(log_file).to_pandas().set_index("task")
    assert table.loc[filled.loc[3, "task"], "changed"] == {"income": "9.5"}
    assert table["changed"].notna().sum() == 1


def test_what_a_spreadsheet_does_to_a_packet_does_no_harm(packet, log_file, tmp_path):
    fill_table(packet, {name: f" {label.upper()} " for name, label in TRUTH.items()})
    frame = pd.read_csv(packet)  # numbers lose their zeros, text keeps its apostrophes
    assert frame["customer"].dtype.kind == "i"
    book = tmp_path / "packet.xlsx"
    frame.sort_values("income").to_excel(book, index=False)
    taken = read_verdicts(book, log=log_file)
    table = ReviewLog(log_file).to_pandas()
    assert taken.taken == len(table)
    assert table["verdict"].tolist() == truth_of(table)
    assert table["changed"].isna().all()


def test_a_verdict_is_replaced_only_where_that_is_wanted_and_both_stay(packet, log_file):
    fill_table(packet, TRUTH)
    n = read_verdicts(packet, log=log_file).taken
    other = {"good": "bad", "bad": "good"}
    spoiled(read_packet(packet), "verdict", other[read_packet(packet).loc[3, "verdict"]]).to_csv(packet, index=False)
    with pytest.raises(ValueError, match="replace that verdict"):
        read_verdicts(packet, log=log_file)
    taken = read_verdicts(packet, log=log_file, revise=True)
    assert (taken.taken, taken.revised, taken.known) == (1, 1, n - 1)
    log = ReviewLog(log_file)
    assert len(log.records("verdict")) == n + 1
    assert log.to_pandas()["verdict"].notna().sum() == n


def test_nobody_is_no_reviewer(model_file, answers_file, tmp_path, log_file):
    file = write_packets(model_file, answers_file, tmp_path, log=log_file, capacity=5, audit=0).files[0]
    fill_table(file, TRUTH)
    with pytest.raises(ValueError, match="nobody knows who reviewed it"):
        read_verdicts(file, log=log_file)


def test_several_packets_are_taken_in_together_or_not_at_all(model_file, answers_file, tmp_path, log_file):
    files = write_packets(
        model_file, answers_file, tmp_path, log=log_file, capacity=20, audit=0, reviewers=["anna", "ben"]
    ).files
    fill_table(files[0], TRUTH)
    fill_table(files[1], TRUTH)
    read_packet(files[1]).assign(verdict="?").to_csv(files[1], index=False)
    with pytest.raises(ValueError, match="is no class"):
        read_verdicts(files, log=log_file)
    assert ReviewLog(log_file).records("verdict") == []
    fill_table(files[1], TRUTH)
    assert read_verdicts(files, log=log_file).taken == 20


def test_tasks_of_a_writer_that_was_killed_do_not_count(packet, log_file):
    log = ReviewLog(log_file)
    stray = {**log.records("task")[0], "task": "ffffffffffffffff", "draw": "2"}
    log.append([{name: stray[name] for name in stray if name not in ("hash", "n", "previous", "at")}])
    assert "ffffffffffffffff" not in set(log.to_pandas()["task"])
    frame = spoiled(read_packet(packet), "task", "ffffffffffffffff")
    frame.assign(verdict="good").to_csv(packet, index=False)
    with pytest.raises(ValueError, match="knows no task"):
        read_verdicts(packet, log=log_file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{", "is not JSON"),
        ('{"a": 1}', "is no export of Label Studio"),
        ('[{"data": {"text": "x"}}]', "has no task identity"),
        ("task,age\na,1\n", "lacks the column 'verdict'"),
    ],
)
def test_files_that_are_no_packets_are_named(tmp_path, log_file, content, message):
    file = tmp_path / ("packet.csv" if content.startswith("task") else "export.json")
    file.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_verdicts(file, log=log_file)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_verdicts(tmp_path / "none.csv", log=log_file)


def test_two_choices_or_two_annotators_are_no_verdict(model_file, answers_file, tmp_path, log_file):
    [file] = write_packets(
        model_file, answers_file, tmp_path, log=log_file, capacity=5, audit=0, format="label-studio"
    ).files
    export = exported(file, TRUTH)
    entries = json.loads(export.read_text())
    entries[0]["annotations"][1]["result"][0]["value"]["choices"] = ["good", "bad"]
    export.write_text(json.dumps(entries))
    with pytest.raises(ValueError, match="the verdict 'good and bad' is no class"):
        read_verdicts(export, log=log_file)
    entries = json.loads(exported(file, TRUTH).read_text())
    entries[0]["annotations"] *= 2
    export.write_text(json.dumps(entries))
    with pytest.raises(ValueError, match="already: leave one of the two"):
        read_verdicts(export, log=log_file)
