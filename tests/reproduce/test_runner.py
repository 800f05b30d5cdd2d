"""Parts are run in order, once, and as long as there is time."""

from dataclasses import dataclass

import pytest

from recuse.datasets import load
from recuse.reproduce.results import Results
from recuse.reproduce.runner import (
    TimeBudget,
    call_in_processes,
    call_in_threads,
    present,
    run_parts,
    stream_from_processes,
)


@dataclass(frozen=True)
class Part:
    label: str


@dataclass(frozen=True)
class Outcome:
    part: str


def test_parts_with_outcomes_are_not_run_again():
    results, reported = Results("e", [Part("a"), Part("b"), Part("c")], False, [Outcome("b")]), []
    run_parts(results, TimeBudget(1), lambda part: [Outcome(part.label)], reported.append)
    assert reported == [Part("a"), Part("c")]
    assert results.outcomes == [Outcome("b"), Outcome("a"), Outcome("c")]
    assert results.finished() == list(results.planned)


def test_parts_that_there_is_no_time_for_are_named():
    results = Results("e", [Part("a"), Part("b")], False, [Outcome("a")])
    run_parts(results, TimeBudget(-1), lambda part: [Outcome(part.label)], lambda part: None)
    assert results.skipped == ["b"]
    assert results.outcomes == [Outcome("a")]


def test_calls_come_back_in_order():
    arguments = [(n, 2) for n in range(5)]
    powers = [n**2 for n in range(5)]
    assert call_in_threads(pow, arguments) == powers
    assert call_in_processes(pow, arguments, 1) == powers
    assert sorted(stream_from_processes(pow, arguments, 1)) == powers


def run_if_there(part):
    load(part.label)
    return [Outcome(part.label)]


def test_parts_without_data_are_skipped_and_named(data_folder, capsys):
    """liver_drinks is on no server, so nothing is fetched."""
    results = Results("e", [Part("liver_drinks"), Part("haberman")], False)
    run_parts(results, TimeBudget(1), run_if_there, lambda part: None)
    assert (results.missing, results.outcomes) == (["liver_drinks"], [Outcome("haberman")])
    assert capsys.readouterr().err.startswith("liver_drinks is skipped: name='liver_drinks' was not found: set the")
    assert results.data()["missing"] == ["liver_drinks"]


def test_an_experiment_without_any_of_its_data_is_an_error(data_folder):
    results = Results("e", [Part("liver_drinks")], False)
    with pytest.raises(FileNotFoundError, match="RECUSE_DATA"):
        run_parts(results, TimeBudget(1), run_if_there, lambda part: None)
    with pytest.raises(FileNotFoundError, match="RECUSE_DATA"):
        present(["liver_drinks"], load)


def test_data_sets_that_are_there_are_kept(data_folder, capsys):
    assert present(["liver_drinks", "haberman"], load) == ["haberman"]
    assert "liver_drinks is skipped" in capsys.readouterr().err
