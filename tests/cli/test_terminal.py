"""Progress on standard error: nothing of what is quick, a line now and then of what is not, a bar on a terminal."""

import copy
import io
import re
import sys
import threading
from types import SimpleNamespace

import pytest

from recuse.cli import terminal
from recuse.cli.terminal import as_clock, shown_work, with_count
from tests.processes import wait_until


@pytest.fixture
def error(monkeypatch):
    monkeypatch.setenv(terminal.SETTING, "auto")
    monkeypatch.setattr(terminal, "_PATIENCE", 0.01)
    monkeypatch.setattr(terminal, "_LINES_APART", 0.01)
    stream = io.StringIO()
    # Not the stream of the process: pytest puts its own in place between fixture and test.
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=stream))
    return stream


def test_lines_tell_how_far_it_is_and_how_long_it_will_take(error):
    with shown_work("comparing") as report:
        report(5, 20, "")
        report(10, 20, "Random forest")
        assert wait_until(lambda: "10 of 20" in error.getvalue())
    line = next(line for line in error.getvalue().splitlines() if "10 of 20" in line)
    assert re.fullmatch(r"recuse: comparing: 10 of 20 in \d+ s, about \d+ s left \(Random forest\)", line)


def test_what_an_earlier_run_has_left_does_not_make_the_rest_look_quick(error):
    with shown_work("comparing") as report:
        report(15, 20, "")
        assert wait_until(lambda: "15 of 20" in error.getvalue())
        assert "left" not in error.getvalue()


def test_a_step_without_an_end_tells_its_count_and_time(error):
    with shown_work("answering", unit="cases") as report:
        assert wait_until(lambda: "recuse: answering, for 0 s so far" in error.getvalue())
        with_count(report)(12_000)
        assert wait_until(lambda: "answering, 12,000 cases, for" in error.getvalue())


def test_no_line_comes_before_the_work_has_begun(error, monkeypatch):
    monkeypatch.setattr(terminal, "_LINES_APART", 3600.0)
    waits = []
    wait = threading.Event.wait
    monkeypatch.setattr(threading.Event, "wait", lambda event, seconds=None: waits.append(1) or wait(event, seconds))
    with shown_work("comparing") as report:
        assert wait_until(lambda: len(waits) > 5)
        assert error.getvalue() == ""
        report(1, 2, "")
        assert wait_until(lambda: "1 of 2" in error.getvalue())


def test_nothing_is_shown_of_what_is_quick(error, monkeypatch):
    monkeypatch.setattr(terminal, "_PATIENCE", 3600.0)
    with shown_work("comparing") as report:
        report(1, 2, "")
    assert error.getvalue() == ""


@pytest.mark.parametrize(("setting", "quiet"), [("off", False), ("auto", True), ("lines", True)])
def test_nothing_is_shown_to_who_wants_nothing(error, monkeypatch, setting, quiet):
    monkeypatch.setenv(terminal.SETTING, setting)
    with shown_work("comparing", quiet=quiet) as report:
        report(1, 2, "")
    assert report is terminal._ignore
    assert error.getvalue() == ""


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_and_lines_on_request(error, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "sys", sys)
    monkeypatch.setenv("TERM", "xterm")
    with shown_work("comparing") as report:
        report(3, 9, "Double hinge SVM")
        assert wait_until(lambda: "3/9" in screen.getvalue())
    monkeypatch.setenv(terminal.SETTING, "lines")
    with shown_work("checking"):
        assert wait_until(lambda: "recuse: checking, for" in screen.getvalue())


def test_an_error_takes_the_bar_away(error, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setattr(terminal, "sys", sys)

    def fail():
        with shown_work("comparing"):
            raise ValueError("bad input")

    with pytest.raises(ValueError, match="bad input"):
        fail()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (98, "98 s"), (100, "2 min"), (5_000, "83 min"), (7_000, "1.9 h")]
)
def test_times_have_two_figures(seconds, text):
    assert as_clock(seconds) == text


def test_a_copy_of_what_is_reported_to_reports_to_the_same(monkeypatch):
    """An estimator that reports is cloned, and a clone copies its parameters."""
    monkeypatch.setenv("RECUSE_PROGRESS", "lines")
    with shown_work("fitting") as report:
        assert copy.deepcopy(report) is report
