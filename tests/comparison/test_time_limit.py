"""A comparison that has a time limit: what is whole is kept and judged, the rest is named, and the next run goes on."""

import logging

import numpy as np
import pytest

from recuse.comparison import compare, cross_validation, fits
from recuse.comparison.time_limit import TimeLimit, as_time, estimate
from recuse.workers import surviving_results

from .conftest import COSTS, mixed_table

NAMES = ["ensemble", "logistic-chow", "logistic-tuned", "boosting-chow"]
OPTIONS = {"positive": "bad", "costs": COSTS, "methods": NAMES, "cv": 2, "repeats": 1}


class Stopped(TimeLimit):
    """A limit that is over after so many looks, and not by the clock."""

    def __init__(self, looks):
        super().__init__(100.0)
        self.looks = looks

    @property
    def is_over(self):
        self.looks -= 1
        return self.looks < 0


@pytest.fixture
def stopped(monkeypatch):
    def after(looks):
        monkeypatch.setattr(cross_validation.TimeLimit, "of", lambda seconds: Stopped(looks))

    return after


@pytest.fixture
def quick(monkeypatch):
    """Fits of every method by that of another one, which takes no time."""

    def run_fold(method, *args, run=fits.run_fold):
        from recuse.comparison import METHODS

        logistic = next(m for m in METHODS if m.name == "logistic-chow")
        return run(logistic, *args)

    monkeypatch.setattr(fits, "run_fold", run_fold)


@pytest.mark.usefixtures("quick")
def test_methods_without_all_folds_are_left_out_and_the_next_run_goes_on(stopped, tmp_path):
    stopped(5)
    first = compare(mixed_table(), "default", out=tmp_path, time_limit=100.0, **OPTIONS)
    # Two folds of two methods and one of the third were begun: the simple ones first, the ensemble last.
    assert list(first.answers) == ["logistic-chow", "logistic-tuned"]
    assert [method.name for method in first.methods] == ["logistic-chow", "logistic-tuned"]
    why = {method.name: reason for method, reason in first.left_out.items()}
    again = "within time_limit=100 seconds; the same command goes on with it"
    assert why == {"boosting-chow": f"1 of 2 folds were done {again}", "ensemble": f"0 of 2 folds were done {again}"}
    assert first.verdict.chosen in first.answers
    assert {row.name: row.note for row in first.rows}["ensemble"].startswith("left out: 0 of 2 folds were done")
    assert "0 of 2 folds were done" in (tmp_path / "leaderboard.csv").read_text()
    assert "0 of 2 folds were done" in (tmp_path / "report.html").read_text()
    fitted = []
    stopped(10**6)
    second = compare(mixed_table(), "default", out=tmp_path, progress=lambda *now: fitted.append(now), **OPTIONS)
    assert fitted[0] == (5, 8, "")  # of which 5 were there
    assert set(second.answers) == set(NAMES)
    assert second.left_out == {}
    for name in first.answers:
        np.testing.assert_array_equal(first.answers[name].kind, second.answers[name].kind)


@pytest.mark.usefixtures("quick")
def test_a_limit_in_the_midst_of_a_repetition_keeps_the_whole_ones(stopped):
    stopped(6)
    options = OPTIONS | {"methods": ["logistic-chow", "logistic-tuned"], "repeats": 2}
    found = compare(mixed_table(), "default", time_limit=1.0, **options)
    assert found.repetitions.done == 1
    assert found.repetitions.why == "the time limit was reached"
    assert {len(answers.kind) for answers in found.answers.values()} == {1}
    stopped(4 + 3)
    found = compare(mixed_table(), "default", time_limit=1.0, **(options | {"repeats": "auto"}))
    assert found.repetitions.done == 1
    assert {len(answers.kind) for answers in found.answers.values()} == {1}
    assert found.left_out == {}


@pytest.mark.usefixtures("quick")
def test_a_limit_that_is_too_short_is_one_sentence(stopped, tmp_path):
    stopped(1)
    with pytest.raises(
        TimeoutError, match=r"^No method has answered all cases. ensemble: 0 of 2 .*; give more time\.$"
    ):
        compare(mixed_table(), "default", time_limit=1.0, **OPTIONS)
    stopped(1)
    with pytest.raises(TimeoutError, match="the same command goes on with it"):
        compare(mixed_table(), "default", time_limit=1.0, out=tmp_path, **OPTIONS)


def test_processes_begin_nothing_after_the_limit(stopped):
    stopped(6)
    options = OPTIONS | {"methods": ["logistic-chow", "exactboost", "abstention-boosting"], "n_jobs": 2}
    found = compare(mixed_table(90), "default", time_limit=1.0, **options)
    assert "logistic-chow" in found.answers
    assert found.left_out


def test_calls_that_may_be_called_off():
    asked = []

    def goes_on():
        asked.append(1)
        return len(asked) <= 4

    found = dict(surviving_results(pow, [(2, n) for n in range(50)], 2, goes_on))
    assert 1 <= len(found) < 6
    assert all(found[number] == 2**number for number in found)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_limit_is_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match=r"time_limit must be .*Give seconds, or None for no limit"):
        compare(mixed_table(), "default", time_limit=seconds, **OPTIONS)


def test_the_estimate_says_about_and_what_it_rests_on(caplog, monkeypatch):
    assert estimate(15, 5, 130.0, 5, TimeLimit(600.0)) == (
        "15 methods on 5 folds: about 2 min more, by the first fold; then what may matter to the choice is repeated, "
        "4 times at most; nothing is begun after 10 min in all."
    )
    assert estimate(1, 2, 0.2, 1, TimeLimit()).startswith("1 method on 2 folds: ")
    assert estimate(3, 5, 0.2, 1, TimeLimit()) == "3 methods on 5 folds: about 1 s more, by the first fold."
    assert [as_time(seconds) for seconds in (0.1, 98, 600, 7200)] == ["1 s", "98 s", "10 min", "2.0 h"]
    said = []
    monkeypatch.setattr(fits, "estimate", lambda *given: said.append(given) or "about 7 s more")
    monkeypatch.setattr(fits.TimeLimit, "elapsed", property(lambda self: next(clock)))
    clock = iter(range(0, 10**6, 10))
    with caplog.at_level(logging.INFO, "recuse.comparison"):
        compare(mixed_table(90), "default", **(OPTIONS | {"methods": ["logistic-chow"], "cv": 3}))
    assert len(said) == 1
    assert said[0][:2] == (1, 3)
    assert "about 7 s more" in caplog.text
