"""Parts of a comparison: the methods that stand on one classifier, on one fold, as a worker is sent them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import joblib

from ..arrays import Indices
from ..tables import Cases
from .folds import FoldResult, run_fold
from .methods import Method
from .own import as_methods, sendable
from .plans import Task
from .sharing import Preparation, PreparedFold, Shared


class FoldPart(NamedTuple):
    """Methods that share their fits, on one fold.

    Attributes
    ----------
    number : int
        The fold.
    methods : tuple of Method
        What is run there.
    explained : bool
        Whether the answers come with reasons. Those of the first repetition are shown, and no others.
    """

    number: int
    methods: tuple[Method, ...]
    explained: bool = True

    def sent(self) -> list[str | Method]:
        """What a worker is sent of the methods."""
        return [sendable(method) for method in self.methods]

    def with_results(self, results: list[FoldResult]) -> Iterator[tuple[Method, int, FoldResult]]:
        """Each method with the fold and its result."""
        for method, result in zip(self.methods, results, strict=True):
            yield method, self.number, result


def in_parts(pending: list[tuple[Method, int]], n_folds: int) -> list[FoldPart]:
    """Put together what shares its fits, in the order of the first of each part; a repetition has so many folds."""
    found: dict[tuple[int, str], list[Method]] = {}
    for method, number in pending:
        found.setdefault((number, method.shares or method.name), []).append(method)
    return [FoldPart(number, tuple(methods), number < n_folds) for (number, _), methods in found.items()]


def run_part(
    sent: list[str | Method],
    task: Task,
    cases: Cases,
    train: Indices,
    test: Indices,
    reasons: bool,
    load: Callable[[Preparation], PreparedFold | None] | None = None,
) -> list[FoldResult]:
    """Run the methods of a part, on a worker."""
    shared = Shared(load)
    return [run_fold(method, task, cases, train, test, shared, reasons) for method in received_methods(sent, task)]


def received_methods(sent: list[str | Method], task: Task) -> list[Method]:
    """The methods of a part, from what a worker was sent."""
    return [method for given in sent for method in as_methods([given], task.n_rows)]


def run_sent(
    sent: list[str | Method], task: Task, cases: Cases, train: Indices, test: Indices, reasons: bool, place: str
) -> list[FoldResult]:
    """Run the methods of a part, on the fold as another process has prepared it."""
    return run_part(sent, task, cases, train, test, reasons, lambda kind: _read(_file(place, kind)))


def prepare_sent(
    sent: list[str | Method], task: Task, cases: Cases, train: Indices, test: Indices, _reasons: bool, place: str
) -> None:
    """Prepare a fold for the methods of a part, and all that need the same; keep it in a file."""
    method = received_methods(sent, task)[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model that is fitted on all cases gives them
            fold = PreparedFold.of(method, task, cases, train, test)
    except Exception:  # each method will say what is wrong
        return
    joblib.dump(fold, _file(place, Preparation.of(method, cases.features, len(train))))


def _file(place: str, kind: Preparation) -> str:
    return f"{place}-{int(kind.keep_categories)}-{kind.fit_rows or 0}.joblib"


@lru_cache(maxsize=2)  # the parts of a fold follow one another
def _read(file: str) -> PreparedFold | None:
    if not Path(file).is_file():
        return None
    fold: PreparedFold = joblib.load(file)
    return fold
