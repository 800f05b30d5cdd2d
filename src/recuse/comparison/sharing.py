"""What the methods of a comparison share on a fold: the prepared table, and the fits of one classifier.

The preparation of a table does not depend on the method, apart from its kind (`Preparation`), and the three reject
rules on one classifier search the same candidates on the same inner folds. Each is done once. Nothing is shared
between folds: what a method answers is what it would answer alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import joblib
from numpy.typing import NDArray

from ..arrays import Floats, Indices
from ..explaining import ShownColumns, column_sources
from ..tables import Cases, TableColumns
from ..thresholds.scores import GivenCases, fit_rows
from .methods import Method
from .plans import Task


class Preparation(NamedTuple):
    """What the preparation of a training part depends on, besides its cases.

    Attributes
    ----------
    keep_categories : bool
        Whether columns of few categories are kept as they are.
    fit_rows : int or None
        Size of the sample it is fitted on; None for all cases.
    """

    keep_categories: bool
    fit_rows: int | None

    @classmethod
    def of(cls, method: Method, features: Any, n: int) -> Preparation:
        """What a method needs of so many training cases of a table."""
        sampled = method.fit_rows is not None and n > method.fit_rows
        keeps = method.takes_categories and _may_hold_categories(features)
        return cls(keeps, method.fit_rows if sampled else None)


def _may_hold_categories(features: Any) -> bool:
    """Whether it matters that categories are kept: a table of numbers and dates has none."""
    return bool(features.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz"]).shape[1])


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A training part as numbers, with the steps that made them.

    Attributes
    ----------
    columns, vectorizer : transformer
        Fitted on the training part; None where only the cases are kept.
    numbers, outcomes, groups
        The cases that methods are fitted on.
    seconds : float
        What the preparation took.
    weights : ndarray or None
        How often each case counts; None for once.
    """

    columns: Any
    vectorizer: Any
    numbers: Any
    outcomes: NDArray[Any]
    groups: Indices | None
    seconds: float
    weights: Floats | None = None

    @classmethod
    def of(
        cls,
        method: Method,
        task: Task,
        X: Any,
        y: NDArray[Any],
        groups: Indices | None,
        weights: Floats | None = None,
    ) -> PreparedTable:
        """Prepare the cases that a method is fitted on."""
        started = time.perf_counter()
        rows = method.training_rows(y, task.seed)
        X, y, groups = X.iloc[rows], y[rows], None if groups is None else groups[rows]
        columns = TableColumns(task.novelty).fit(X)
        vectorizer = table_vectorizer(task.seed, method.takes_categories)
        # The vectorizer does not see the outcomes: fitting it before a search leaks nothing into the search.
        numbers = in_one_piece(vectorizer.fit_transform(columns.transform(X)))
        weights = None if weights is None else weights[rows]
        return cls(columns, vectorizer, numbers, y, groups, time.perf_counter() - started, weights)

    def cases_only(self) -> PreparedTable:
        """The same without the steps: a process that reads it need not load their libraries."""
        return replace(self, columns=None, vectorizer=None)


@dataclass(frozen=True, eq=False)
class PreparedFold:
    """Both sides of a fold, prepared.

    Attributes
    ----------
    training : PreparedTable
        What methods are fitted on, without the steps that made it.
    test : DataFrame
        The cases to answer, as numbers.
    shown : ShownColumns
        The same as they stand in the table, and which of its columns each of the prepared ones was made from.
    novelties : dict
        Which of them lie far outside the training range; see `TableColumns.novelties`.
    test_seconds : float
        What the preparation of the test part took.
    """

    training: PreparedTable
    test: Any
    shown: ShownColumns
    novelties: dict[int, tuple[float, str]]
    test_seconds: float

    @classmethod
    def of(cls, method: Method, task: Task, cases: Cases, train: Indices, test: Indices) -> PreparedFold:
        """Prepare a fold for a method, and for all that need the same preparation."""
        groups = None if cases.groups is None else cases.groups[train]
        training = PreparedTable.of(method, task, cases.features.iloc[train], cases.outcomes[train], groups)
        started = time.perf_counter()
        columns = training.columns.transform(cases.features.iloc[test])
        training.columns.remember_writings(cases.writings)  # for reasons: the features themselves are read already
        numbers = in_one_piece(training.vectorizer.transform(columns))
        sources = column_sources(training.vectorizer, list(columns.columns))
        shown = (
            ShownColumns.of(numbers)
            if sources is None
            else ShownColumns.of(columns, sources=sources, writings=cases.writings)
        )
        novelties = training.columns.novelties(columns)
        return cls(training.cases_only(), numbers, shown, novelties, time.perf_counter() - started)


def table_vectorizer(seed: int, keep_categories: bool = False) -> Any:
    """Return skrub's preparation of mixed columns: dates, text and, unless they are kept, categories become numbers.

    Kept, a column of few categories gets a categorical type; unseen categories are the classifier's affair.
    """
    from skrub import StringEncoder, TableVectorizer, ToCategorical

    kept = {"low_cardinality": ToCategorical()} if keep_categories else {}
    return TableVectorizer(high_cardinality=StringEncoder(random_state=seed), **kept)


def in_one_piece(frame: Any) -> Any:
    """The frame with columns of one type beside each other in memory: rows are taken from it many times."""
    return frame.copy()


class FitShelf:
    """Fitted classifiers of one training part, each fitted once.

    Attributes
    ----------
    spared : float
        Seconds that the fits took which were found here.
    """

    def __init__(self) -> None:
        self.spared = 0.0
        self._kept: dict[Any, tuple[Any, float, list[Any]]] = {}
        self._tables: list[Any] = []  # they must live on: their addresses are part of the keys

    def fit_rows(self, estimator: Any, cases: GivenCases, rows: Indices) -> Any:
        """A clone of an estimator, fitted on some rows of the cases; the same one when asked again."""
        key = (joblib.hash(estimator), id(cases.X), rows.tobytes())
        if key in self._kept:
            model, seconds, given = self._kept[key]
            self.spared += seconds
        else:
            started = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = fit_rows(estimator, cases, rows)
            given = [warning.message for warning in caught]
            self._kept[key] = model, time.perf_counter() - started, given
            self._tables.append(cases.X)
        for message in given:
            warnings.warn(message, stacklevel=2)
        return model


class Shared:
    """What the methods share on one fold, made when the first of them needs it.

    Parameters
    ----------
    load : callable, optional
        Preparation -> PreparedFold or None: what another process has prepared.
    """

    def __init__(self, load: Callable[[Preparation], PreparedFold | None] | None = None) -> None:
        self._load = load or (lambda _: None)
        self._tables: dict[Preparation, PreparedFold] = {}
        self._shelf: tuple[Any, FitShelf] = (None, FitShelf())

    def table(self, method: Method, task: Task, cases: Cases, train: Indices, test: Indices) -> PreparedFold:
        """The fold as a method needs it."""
        kind = Preparation.of(method, cases.features, len(train))
        if kind not in self._tables:
            self._tables[kind] = self._load(kind) or PreparedFold.of(method, task, cases, train, test)
        return self._tables[kind]

    def shelf(self, method: Method) -> FitShelf:
        """Where the fits of a method are kept, for those that share its classifier; those of the one before go."""
        name = method.shares or method.name
        if name != self._shelf[0]:
            self._shelf = name, FitShelf()
        return self._shelf[1]
