"""The log of reviews: every tamper is found, killed writers leave it readable, two writers do not mix their records."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from recuse.reviews import ReviewLog, TamperedLogError

from .killing import PARTS
from .tampering import tampered

ROOT = Path(__file__).parents[2]


def notes(n):
    return [{"kind": "note", "number": number, "text": f"größer {number}"} for number in range(n)]


@pytest.fixture
def log(tmp_path):
    log = ReviewLog(tmp_path / "reviews.jsonl")
    for _ in range(5):
        log.append(notes(4))
    return log


def is_found(path, head=None):
    try:
        ReviewLog(path, head=head)
    except TamperedLogError:
        return True
    return False


def test_what_was_appended_is_read_in_its_order(log):
    read = ReviewLog(log.path)
    assert [record["number"] for record in read.records("note")] == [0, 1, 2, 3] * 5
    assert read.records("note")[1]["text"] == "größer 1"
    assert [record["n"] for record in read.records()] == list(range(21))
    assert read.verify() == log.verify()
    assert read.head == log.head == read.verify().head


def test_the_format_is_what_the_page_says(log):
    """Checked with the page in hand: no code of the library reads the file here."""
    lines = log.path.read_bytes().splitlines()
    previous = "0" * 64
    for number, line in enumerate(lines):
        record = json.loads(line)
        without = re.sub(rb'^\{"hash":"[0-9a-f]{64}",', b"{", line)
        assert record["hash"] == hashlib.sha256(without).hexdigest()
        assert (record["previous"], record["n"]) == (previous, number)
        previous = record["hash"]
    assert json.loads(log.head_path.read_bytes()) == {"records": len(lines), "hash": previous}
    assert json.loads(lines[0])["kind"] == "log"
    assert json.loads(lines[0])["format"] == 1


def test_thousand_of_thousand_random_tampers_are_found(log):
    rng = np.random.default_rng(7)
    content, kinds = log.path.read_bytes(), set()
    for _ in range(1000):
        changed, kind = tampered(content, rng)
        log.path.write_bytes(changed)
        assert is_found(log.path), kind
        with pytest.raises(TamperedLogError):
            log.verify()
        kinds.add(kind)
    assert len(kinds) == 8
    log.path.write_bytes(content)
    assert not is_found(log.path)


def test_every_cut_at_a_line_is_found_by_the_head_file_and_by_a_kept_head(log):
    content, head = log.path.read_bytes(), log.head
    lines = content.splitlines(keepends=True)
    sidecar = log.head_path.read_bytes()
    for n in range(len(lines)):
        log.path.write_bytes(b"".join(lines[:n]))
        assert is_found(log.path)
        log.head_path.unlink()
        assert is_found(log.path, head=head)
        log.head_path.write_bytes(sidecar)


def test_a_log_written_anew_with_its_head_file_is_found_by_a_kept_head_only(log, tmp_path):
    head = log.head
    other = ReviewLog(tmp_path / "other.jsonl")
    other.append(notes(20))
    os.replace(other.path, log.path)
    os.replace(other.head_path, log.head_path)
    assert not is_found(log.path)
    assert is_found(log.path, head=head)


def test_a_changed_or_lacking_head_file_is_found(log):
    content = log.head_path.read_bytes()
    for position in range(len(content)):
        for new in (b"7", b" ", b"\n", b"-"):
            changed = content[:position] + new + content[position + 1 :]
            log.head_path.write_bytes(changed)
            assert is_found(log.path) == (changed != content)
    log.head_path.unlink()
    assert is_found(log.path)


def test_a_kept_head_replaces_a_head_file_that_was_lost(log):
    earlier = log.records()[9]["hash"]
    log.head_path.unlink()
    again = ReviewLog(log.path, head=earlier)
    again.append(notes(1))
    assert not is_found(log.path)
    assert ReviewLog(log.path).verify().records == 22


def test_a_log_that_is_gone_is_found(log):
    log.path.unlink()
    with pytest.raises(TamperedLogError, match="taken from its end"):
        ReviewLog(log.path)


def test_an_unfinished_line_is_no_record_and_the_next_writer_takes_it_away(log):
    whole = log.path.read_bytes()
    with open(log.path, "ab") as file:
        file.write(b'{"hash":"01')
    state = ReviewLog(log.path).verify()
    assert (state.records, state.unfinished, state.after_head) == (21, 11, 0)
    assert "11 bytes of an unfinished record" in str(state)
    log.append(notes(1))
    assert log.path.read_bytes().startswith(whole)
    assert ReviewLog(log.path).verify().unfinished == 0
    assert len(ReviewLog(log.path)) == 22


def test_records_after_the_head_are_read_and_told_apart(log):
    head = log.head_path.read_bytes()
    log.append(notes(2))
    log.head_path.write_bytes(head)  # as if its writer had been killed before it could renew the head
    state = ReviewLog(log.path).verify()
    assert (state.records, state.after_head) == (23, 2)
    log.append(notes(1))
    assert ReviewLog(log.path).verify().after_head == 0


def run_writers(path, *arguments):
    command = [sys.executable, "-m", "tests.reviews.killing", str(path), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="its writers are forked")
def test_killed_writers_leave_a_log_that_others_read_and_continue(tmp_path):
    acknowledged = json.loads(run_writers(tmp_path / "reviews.jsonl", "kill", 25, 3))
    log = ReviewLog(tmp_path / "reviews.jsonl")
    found = [(record["writer"], record["number"], record["part"]) for record in log.records("note")]
    assert len(acknowledged) > 25
    assert set(found) >= {(*entry, part) for entry in acknowledged for part in range(PARTS)}
    assert len(found) == len(set(found))
    log.append(notes(1))
    assert not is_found(log.path)


@pytest.mark.skipif(sys.platform == "win32", reason="its writers are forked")
def test_two_writers_at_once_lose_nothing(tmp_path):
    run_writers(tmp_path / "reviews.jsonl", "together", 20)
    log = ReviewLog(tmp_path / "reviews.jsonl")
    for writer in (0, 1):
        own = [(r["number"], r["part"]) for r in log.records("note") if r["writer"] == writer]
        assert own == [(number, part) for number in range(20) for part in range(PARTS)]
    assert log.verify().after_head == 0


def test_a_writer_waits_for_another(log):
    other = threading.Thread(target=lambda: ReviewLog(log.path).append(notes(1)))
    with log.locked():
        other.start()
        other.join(timeout=0.5)
        assert other.is_alive()
        log.append_locked(notes(1))
    other.join()
    assert len(ReviewLog(log.path)) == 23


def test_a_reader_sees_what_another_writer_appends(log):
    reader = ReviewLog(log.path)
    log.append(notes(2))
    reader.append(notes(1))
    assert len(reader) == 24
    assert len(log) == 23
    assert log.verify().records == 24


def test_entries_that_no_record_can_hold_are_refused_and_leave_nothing(log):
    before = log.path.read_bytes()
    wrong = {
        "needs a kind": {"text": "no kind"},
        "must not have 'hash'": {"kind": "note", "hash": "0"},
        "lacks packet, stratum": {"kind": "task", "draw": "d", "task": "t", "case": 1},
    }
    for message, entry in wrong.items():
        with pytest.raises(ValueError, match=message):
            log.append([*notes(1), entry])
    with pytest.raises(ValueError, match="not JSON compliant"):
        log.append([{"kind": "note", "value": float("nan")}])
    assert log.path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="create the folder"):
        ReviewLog(tmp_path / "no" / "reviews.jsonl").append(notes(1))
