"""What a table would be read as, before anything is fitted: types, missing values, and what would mislead."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..labels import to_python
from .cases import check_cases
from .columns import DATE, NUMBER, TableColumns, shown_number, with_dates
from .hints import code_hints, identifier_hints, mark_hints, table_hints
from .names import no_column
from .reading import Source, as_frame, read_as_found
from .sources import TableFile
from .writings import are_codes, example_of, first_padded

_SHOWN = 3
_FEW = 30  # cases of an outcome


@dataclass(frozen=True)
class ColumnFacts:
    """What a column is read as.

    Attributes
    ----------
    name, kind : str
        Its name; "number", "yes/no", "date" or "text".
    written : str or None
        How it is written, if not plainly.
    missing, distinct : int
        Cells without a value, and different values.
    values : str
        Its range, or some of its values.
    """

    name: str
    kind: str
    written: str | None
    missing: int
    distinct: int
    values: str


@dataclass(frozen=True)
class TableFacts:
    """What a table is read as, and what would mislead.

    Attributes
    ----------
    name : str
        Of the table.
    rows : int
        All of them.
    columns : list of ColumnFacts
        In the order of the table.
    outcome : dict
        How often each outcome occurs; empty if none was named.
    findings : list of str
        What to look at before a model is fitted, each with its remedy.
    advice : list of str
        What one may want, though nothing is wrong: dates, over which methods can be compared.
    left_out : list of str
        Columns that are not used: `drop`.

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables import check_table
    >>> facts = check_table(pd.DataFrame({"age": [31, None], "town": ["Ulm", "Bonn"]}))
    >>> [(column.name, column.kind, column.missing) for column in facts.columns]
    [('age', 'number', 1), ('town', 'text', 0)]
    """

    name: str
    rows: int
    columns: list[ColumnFacts]
    outcome: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, for JSON."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The facts for a terminal."""
        yield f"{self.name}: {self.rows:,} rows, {len(self.columns)} columns"
        width = max((len(column.name) for column in self.columns), default=0)
        for column in self.columns:
            written = f", written like {column.written}" if column.written else ""
            missing = f", {column.missing:,} missing ({column.missing / self.rows:.1%})" if column.missing else ""
            kind = f"{'left out: ' if column.name in self.left_out else ''}{column.kind}{written}{missing}"
            yield f"  {column.name:<{width}}  {kind}; {column.distinct:,} different: {column.values}"
        for label, count in self.outcome.items():
            yield f"  outcome {label!r}: {count:,} of {self.rows:,} ({count / self.rows:.1%})"
        for finding in self.findings:
            yield f"! {finding}"
        for text in self.advice:
            yield f"? {text}"


def check_table(
    data: Any, target: str | None = None, positive: Any = None, *, drop: tuple[str, ...] = ()
) -> TableFacts:
    """Say what a table is read as, and what in it would mislead a model.

    Parameters
    ----------
    data : path-like, TableFile or DataFrame
        The table.
    target : str, optional
        Column with the outcome: needed to find columns that almost are the outcome, and copies of rows.
    positive : label, optional
        The positive outcome.
    drop : tuple of str
        Columns to leave out.

    Returns
    -------
    TableFacts

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables import check_table
    >>> table = pd.DataFrame({"paid_late": [0, 1] * 40, "default": ["no", "yes"] * 40, "age": range(80)})
    >>> print(check_table(table, "default").findings[1])
    column 'paid_late' almost is the outcome (by itself it tells 100.0% of the cases right): if it is not known before
    the outcome is, leave it out with --drop paid_late (in Python, drop=['paid_late'])
    """
    frame, name, writings = _read(data)
    shown = with_dates(frame)
    kinds = TableColumns().fit(shown)
    columns = [
        _column_facts(shown[column], kind, writings.get(column))
        for column, kind in zip(kinds.columns_, kinds.kinds_, strict=True)
    ]
    outcome = {} if target is None or target not in frame else _counts(frame[target])
    findings = _findings(frame, target, positive, drop, name)
    left_out = [column for column in drop if column in frame]
    return TableFacts(name, len(frame), columns, outcome, findings, _advice(columns, {*drop, target}), left_out)


def _read(data: Source | Any) -> tuple[Any, str, dict[str, str]]:
    """A table, its name, and how those columns are written whose cells show it: whole numbers are alike everywhere."""
    if hasattr(data, "columns"):
        return as_frame(data), "table", {}
    source = TableFile.of(data)
    frame, found = read_as_found(source)
    return as_frame(frame), source.name, {name: found.columns[name] for name in found.columns if found.shows(name)}


def _column_facts(column: Any, kind: str, writing: str | None) -> ColumnFacts:
    known = column.dropna()
    written = None if writing is None else example_of(writing)
    if kind == NUMBER and len(known) and are_codes(codes := known.unique().tolist()):
        written = first_padded(codes)
    return ColumnFacts(
        str(column.name),
        kind,
        written,
        int(column.isna().sum()),
        int(known.nunique()),
        _values(known, kind),
    )


def _values(known: Any, kind: str) -> str:
    """The range of numbers and dates, or the most frequent of other values."""
    import pandas as pd

    if len(known) == 0:
        return "none"
    if kind == DATE:
        # A day without a time is written as a day.
        return " to ".join(str(date).removesuffix(" 00:00:00") for date in (known.min(), known.max()))
    if known.dtype.kind in "iuf":
        return f"{shown_number(known.min())} to {shown_number(known.max())}"
    # Text as it is: an object for each of millions of cells would take gigabytes.
    texts = known if isinstance(known.dtype, pd.StringDtype) else known.astype(object).map(str)
    common = texts.value_counts().index[:_SHOWN]
    return ", ".join(repr(value if len(value) <= 30 else value[:27] + "...") for value in common)


def _counts(column: Any) -> dict[str, int]:
    counts = {str(to_python(label)): int(count) for label, count in column.value_counts().items()}
    return dict(list(counts.items())[:20]) | ({"(none)": int(column.isna().sum())} if column.isna().any() else {})


def _advice(columns: list[ColumnFacts], without: set[str | None]) -> list[str]:
    return [
        f"column {column.name!r} holds dates: with compare --time {shlex.quote(column.name)} each case is answered by "
        "models of earlier cases only, as it will be in use"
        for column in columns
        if column.kind == DATE and column.distinct > 1 and column.name not in without
    ]


def _findings(frame: Any, target: str | None, positive: Any, drop: tuple[str, ...], name: str) -> list[str]:
    """What would mislead, or could not be fitted at all."""
    features = frame.drop(columns=[column for column in (*drop, target) if column in frame])
    constant = [column for column in features if features[column].nunique(dropna=False) == 1]
    found = [f"column {column!r} holds the same in every row and tells nothing" for column in constant]
    if target is None:
        wrong = [column for column in drop if column not in frame]
        found += [f"{name} has no column {column!r} to leave out: {no_column(column, frame)}" for column in wrong]
        return found + _column_hints(features)
    try:
        cases = check_cases(frame, target, positive, drop=drop, name=name)
    except (ValueError, TypeError) as error:
        return [*found, str(error), *_column_hints(features)]
    missing = len(frame) - len(cases.outcomes)
    found += [f"{missing:,} rows have no {target} and would be set aside"] if missing else []
    if np.bincount(cases.codes).min() < _FEW:
        found.append(f"one outcome has fewer than {_FEW} cases: figures about it will be rough")
    return found + table_hints(cases)


def _column_hints(features: Any) -> list[str]:
    """What columns tell without the outcome."""
    return mark_hints(features) + identifier_hints(features) + code_hints(features)
