"""The commands for reviewers: cases out, verdicts in, the log checked, hours planned."""

import json

import pandas as pd
import pytest

from recuse.cli import main
from tests.reviews.conftest import answers_file, make_cases, model_file  # noqa: F401  fixtures
from tests.reviews.reviewers import fill_table

TRUTH = make_cases(2000, 2).set_index("customer")["outcome"].to_dict()


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Run the command in this process, in a folder of its own; give exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call_it(*arguments):
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call_it


def test_cases_go_out_and_verdicts_come_in(call, model_file, answers_file, tmp_path):  # noqa: F811
    options = ["--blind", "--capacity", 40, "--audit", 0.05, "--reviewers", "anna,ben", "--seed", 1]
    code, out, _ = call("review", "out", model_file, answers_file, *options)
    assert code == 0
    assert out.startswith("2 packets: 40 rejected cases and ")
    assert "rejected cases are beyond the capacity; head of the log " in out
    packets = [tmp_path / "packets" / f"draw-1-{name}.csv" for name in ("anna", "ben")]
    for packet in packets:
        fill_table(packet, TRUTH)
    code, out, _ = call("review", "in", *packets, "--json")
    taken = json.loads(out)
    assert (code, taken["outstanding"], taken["open"]) == (0, 0, 0)
    code, out, _ = call("review", "verify", "reviews.jsonl", "--head", taken["head"])
    assert code == 0
    assert "none changed, taken out, put in or moved" in out


def test_tampering_is_exit_code_3(call, model_file, answers_file, tmp_path):  # noqa: F811
    assert call("review", "out", model_file, answers_file, "--capacity", 5)[0] == 0
    log = tmp_path / "reviews.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"rejected"', b'"audited"', 1))
    code, out, err = call("review", "verify", log)
    assert (code, err) == (3, "")
    assert "was changed: its hash is not that of what it says" in out
    code, out, _ = call("review", "verify", log, "--json")
    assert (code, json.loads(out)["intact"]) == (3, False)
    code, _, err = call("review", "in", log, "--log", log)
    assert (code, err.count("\n")) == (1, 1)
    assert "was tampered with" in err


def test_wrong_verdicts_are_one_line(call, model_file, answers_file, tmp_path):  # noqa: F811
    call("review", "out", model_file, answers_file, "--capacity", 5, "--audit", 0)
    packet = tmp_path / "packets" / "draw-1-packet-1.csv"
    pd.read_csv(packet, dtype=str).assign(verdict="maybe").to_csv(packet, index=False)
    code, out, err = call("review", "in", packet, "--reviewer", "anna")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "5 rows cannot be taken in, so that none was: " in err
    code, _, err = call("review", "verify", "none.jsonl")
    assert code == 1
    assert "does not exist" in err


def test_hours_are_planned(call, model_file, answers_file):  # noqa: F811
    options = ["--volume", "3000/month", "--minutes-per-case", 10, "--currency", "EUR", "--reviewers", 2]
    code, out, _ = call("plan", model_file, answers_file, *options)
    assert code == 0
    assert "    240*     2.0    1,440" in out
    code, out, _ = call("plan", model_file, answers_file, *options, "--days", 2, "--json")
    assert len(json.loads(out)["waiting"]) == 2
    for wrong in (["--minutes-per-case", 6], ["--volume", "10/day", "--hours", 1, "--reviewers", 1]):
        assert call("plan", model_file, answers_file, *wrong)[0] == 2
    code, _, err = call("plan", model_file, answers_file, "--volume", "10/day")
    assert code == 1
    assert "minutes_per_case is missing" in err


def test_the_log_that_is_verified_has_the_usual_name(call, model_file, answers_file):  # noqa: F811
    assert call("review", "verify")[0] == 1
    assert call("review", "out", model_file, answers_file, "--capacity", 5)[0] == 0
    code, out, _ = call("review", "verify")
    assert code == 0
    assert out.startswith("reviews.jsonl: ")


def test_a_second_draw_says_what_was_given_before(call, model_file, answers_file):  # noqa: F811
    options = ["--capacity", 5, "--audit", 0]
    assert "given out before" not in call("review", "out", model_file, answers_file, *options)[1]
    assert (
        "; 5 cases of these answers were given out before; "
        in call("review", "out", model_file, answers_file, *options, "--again", "--separator", ";")[1]
    )
