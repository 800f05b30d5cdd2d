"""Which columns make a case what it is, in plain words: "age = 61 and glucose = 182 speak for 'yes'".

What two columns say only together, in models that have such terms, is named by both: "age x dose (61, 2.5)".
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore

from ..arrays import Floats, Indices
from ..labels import is_missing, to_python
from .contributions import Contributions

NAMED = 3  # columns named at most
_WORTH_NAMING = 0.02  # share of what all columns add
_CERTAIN = 2.0  # standard errors that an estimate must be away from 0
_FEWEST_AT_ONCE, _CELLS_AT_ONCE = 1_024, 4_000_000  # cases, and cases times columns, explained together
_LONGEST = 40  # characters of a value
_COMMA, _PLAIN = "1.234,5", "1234.5"
_EXCHANGED = str.maketrans(",.", ".,")


class ShownColumns(NamedTuple):
    """The columns of a table as a person knows them.

    Attributes
    ----------
    names : list of str
        Of the columns.
    values : list
        The values of each column, by row.
    sources : ndarray of int or None
        For each column that the classifier sees, the one it was made from; None if these are the same.
    writings : mapping of str to str
        How the columns are written that are not written plainly: "1.234,5", "1,234.5%", or the format of a date.
    """

    names: list[str]
    values: list[Any]
    sources: Indices | None = None
    writings: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def of(
        cls,
        X: Any,
        names: list[Any] | None = None,
        sources: Indices | None = None,
        writings: Mapping[str, str] = MappingProxyType({}),
    ) -> ShownColumns:
        """Columns of a pandas or polars frame, or of an array, with these names where it has none."""
        if hasattr(X, "iloc"):
            return cls([str(name) for name in X.columns], [X.iloc[:, i] for i in range(X.shape[1])], sources, writings)
        if hasattr(X, "iter_columns"):
            return cls([str(name) for name in X.columns], list(X.iter_columns()), sources)
        if issparse(X):
            return cls([], [], sources)
        columns = list(np.asarray(X).T)
        shown = [f"x{i}" for i in range(len(columns))] if names is None else [str(name) for name in names]
        return cls(shown, columns, sources)

    def value(self, row: int, column: int) -> Any:
        """What a case holds in a column."""
        values = self.values[column]
        return values.iloc[row] if hasattr(values, "iloc") else values[row]

    def as_text(self, row: int, term: int, pairs: Sequence[tuple[int, int]] = ()) -> str:
        """What a case holds in a column, or in the pair of columns that stands behind all of them."""
        if term < len(self.names):
            return as_text(self.names[term], self.value(row, term), writing_of(self.names[term], self.writings))
        both = pairs[term - len(self.names)]
        values = (
            (to_python(self.value(row, column)), writing_of(self.names[column], self.writings)) for column in both
        )
        shown = ", ".join("missing" if is_missing(value) else in_writing(value, writing) for value, writing in values)
        return f"{' x '.join(self.names[column] for column in both)} ({shown})"

    def columns_of(self, contributions: Contributions) -> Contributions:
        """The contributions of these columns."""
        return contributions if self.sources is None else contributions.by_source(self.sources, len(self.names))


Explain = Callable[[Any], Contributions | None]


def speaking_columns(
    explain: Explain, X: Any, rows: Indices, classes: NDArray[Any], columns: ShownColumns
) -> list[str]:
    """What the columns of some cases say, behind a colon; nothing where it cannot be told.

    Parameters
    ----------
    explain : callable
        Cases -> contributions, or None.
    X : array-like
        All cases, as the classifier takes them.
    rows : ndarray of int
        Those that are to be explained.
    classes : ndarray
        Classes of the classifier.
    columns : ShownColumns
        The columns of these cases as a person knows them.
    """
    said: list[str] = []
    for part, found in _explained(explain, X, rows, columns):
        said += columns_speaking(found, columns, part, classes.tolist())
    return [f": {text}" if text else "" for text in said] or [""] * len(rows)


def hardening_columns(explain: Explain, X: Any, rows: Indices, columns: ShownColumns) -> list[str]:
    """What makes cases harder than others, behind a semicolon; nothing where it cannot be told.

    Parameters
    ----------
    explain : callable
        Cases -> what each column adds to the acceptance score, beyond what it adds to an average case; or None.
    X, rows, columns
        As in `speaking_columns`; rejected cases.
    """
    said: list[str] = []
    for part, found in _explained(explain, X, rows, columns):
        said += [f"; {text}" if text else "" for text in columns_hardening(found, columns, part)]
    return said or [""] * len(rows)


def _explained(
    explain: Explain, X: Any, rows: Indices, columns: ShownColumns
) -> Iterator[tuple[list[int], Contributions]]:
    """Some rows after others with their contributions, by column of the table; nothing where these cannot be told."""
    if not columns.names:
        return
    at_once = max(_FEWEST_AT_ONCE, _CELLS_AT_ONCE // np.shape(X)[1])
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        found = explain(_safe_indexing(_indexable(X), part))
        if found is None:  # of no row
            return
        yield part.tolist(), columns.columns_of(found)


def _indexable(X: Any) -> Any:
    return X if hasattr(X, "shape") else np.asarray(X)


def as_text(name: str, value: Any, writing: str | None = None) -> str:
    """A column and its value, as in "income = 12,300"; "income missing" for none.

    Examples
    --------
    >>> from recuse.explaining.wording import as_text
    >>> as_text("income", 12300.0), as_text("ratio", 0.123456), as_text("town", None)
    ('income = 12,300', 'ratio = 0.1235', 'town missing')
    """
    value = to_python(value)
    if is_missing(value):
        return f"{name} missing"
    return f"{name} = {in_writing(value, writing)}"


def writing_of(name: str, writings: Mapping[str, str]) -> str | None:
    """How a column is written; in a table with decimal commas, numbers that are written plainly have no thousands."""
    mixed = any(writing.startswith(_COMMA) for writing in writings.values())
    return writings.get(name, _PLAIN if mixed else None)


def in_writing(value: Any, writing: str | None) -> str:
    """A value as the table writes it.

    Examples
    --------
    >>> from recuse.explaining.wording import in_writing
    >>> in_writing(6162.4, "1.234,5"), in_writing(0.105, "1.234,5%"), in_writing(1587, None)
    ('6.162,4', '10,5%', '1,587')
    """
    value = to_python(value)
    if writing is None:
        return _shown(value)
    if isinstance(value, date):
        return value.strftime(writing) if writing.startswith("%") else _shown(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return _shown(value)
    if writing == _PLAIN:
        return _shown(value).replace(",", "")
    percent = writing.endswith("%")
    text = _shown(100 * float(value) if percent else value) + ("%" if percent else "")
    return text.translate(_EXCHANGED) if writing.startswith(_COMMA) else text


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        text = " ".join(str(value).split()).removesuffix(" 00:00:00")  # a day, as pandas writes it
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    number = float(value)
    if math.isfinite(number) and number == round(number) and abs(number) < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.1f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def columns_speaking(
    contributions: Contributions, columns: ShownColumns, rows: Sequence[int], classes: Sequence[Any]
) -> list[str]:
    """For each case what speaks for either class, by the columns that add most; empty where none stands out.

    Parameters
    ----------
    contributions : Contributions
        One row per case.
    columns : ShownColumns
        Names and values.
    rows : sequence of int
        Row of each case in the table of `columns`.
    classes : sequence
        The two classes; amounts greater than 0 speak for the second. Of three or more, those that the contributions of
        each case are between.
    """
    names = [repr(to_python(label)) for label in classes]
    leading, pairs = leading_columns(contributions), contributions.pairs
    said = []
    for i, row in enumerate(rows):
        amounts = contributions.amounts[i]
        first, second = names if contributions.between is None else (names[k] for k in contributions.between[i])
        parts = [
            _speak([columns.as_text(row, j, pairs) for j in leading[i] if sign * amounts[j] > 0], label)
            for sign, label in ((1, second), (-1, first))
        ]
        if amounts[leading[i]].sum() < 0:  # the side that weighs more comes first
            parts.reverse()
        text = ", ".join(part for part in parts if part)
        said.append(text + _estimated(contributions, i, leading[i]) + contributions.note if text else "")
    return said


def columns_hardening(contributions: Contributions, columns: ShownColumns, rows: Sequence[int]) -> list[str]:
    """For each rejected case the columns that take most off its acceptance score, compared with an average case.

    Empty where there is none, and what is left out of the contributions may be the cause.

    Parameters
    ----------
    contributions : Contributions
        To the acceptance score, one row per case.
    columns, rows
        As in `columns_speaking`.
    """
    against = replace(contributions, amounts=np.minimum(contributions.amounts, 0.0))
    said = []
    for row, leading in zip(rows, leading_columns(against), strict=True):
        shown = [columns.as_text(row, j, against.pairs) for j in leading]
        if shown:
            said.append(f"harder than the average case by {_joined(shown)}{contributions.note}")
        elif contributions.note:  # it may be harder for another reason
            said.append("")
        else:
            said.append("no column makes it harder than the average case, which would be rejected too")
    return said


def leading_columns(contributions: Contributions) -> list[list[int]]:
    """Columns that add most, in either direction, the largest first; of estimates those that differ from 0 for sure."""
    size = np.abs(contributions.amounts)
    total = size.sum(axis=1)
    if contributions.error is not None:
        size = np.where(size > _CERTAIN * contributions.error, size, 0.0)
    order = np.argsort(-size, axis=1, kind="stable")[:, :NAMED]
    return [[j for j in top if size[i, j] > _WORTH_NAMING * total[i]] for i, top in enumerate(order.tolist())]


def _speak(shown: list[str], label: str) -> str:
    if not shown:
        return ""
    return f"{_joined(shown)} {'speaks' if len(shown) == 1 else 'speak'} for {label}"


def _joined(shown: list[str]) -> str:
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _estimated(contributions: Contributions, i: int, leading: list[int]) -> str:
    """How far the estimated amounts may be off, as a share of the largest of them."""
    if contributions.error is None or not leading:
        return ""
    error: Floats = contributions.error[i, leading]
    share = float(error.max() / np.abs(contributions.amounts[i, leading]).max())
    return "" if share < 0.005 else f" (estimated, ± {share:.0%} of the largest)"
