"""Parts are run in order, once, and as long as there is time."""

from dataclasses import dataclass

from recuse.reproduce.results import Results
from recuse.reproduce.runner import TimeBudget, call_in_processes, call_in_threads, run_parts, stream_from_processes


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
