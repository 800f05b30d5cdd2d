"""TableColumns: brings new tables into the form that the model was fitted with."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats
from ..explaining.wording import in_writing, writing_of
from .names import lacking_columns
from .reading import as_frame
from .seen import UnseenValues, categories_of, row_digests, sampled_rows, share_found
from .writings import advice_on, are_codes, example_of, to_values

NUMBER, YES_NO, DATE, TEXT = "number", "yes/no", "date", "text"
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISO_DATE = re.compile(ISO_DAY.pattern + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?")
_ZONE = r"\d{2}:\d{2}.*(?:Z|[+-]\d{2}:?\d{2})$"
_DAY_LENGTH = len("2020-02-08")
RANGE, OFF = "range", "off"
_MANY_DAYS = 3653.0  # ten years
_WORDS = {NUMBER: "numbers", DATE: "dates"}
_TRUE, _FALSE = {"true", "1", "1.0"}, {"false", "0", "0.0"}


class TableColumns(TransformerMixin, BaseEstimator):
    """First step of a model on tables: the columns it was fitted with, in the form they had.

    `transform` takes any table with these columns, in any order and with further ones, and returns them as numbers,
    dates and text. It refuses a table in which one is missing, or that holds text where numbers were.

    Parameters
    ----------
    novelty : {"range", "off"}, default="range"
        Whether `recuse.decide` rejects a case as a novelty if a number of it lies far outside the training range: by
        more than the length of that range. Of a date, by that and ten years.

    Attributes
    ----------
    columns_ : list of str
        Names.
    kinds_ : list of str
        "number", "yes/no", "date" or "text", for each column.
    writings_ : dict of str to str
        How the columns were written that were not written plainly: a number such as ``1.234,5`` or ``1,234.5%``, or the
        format of a date such as ``%d.%m.%Y``. Text in new tables is read the same way.
    ranges_ : dict of str to list of float
        Smallest and largest number of each column of numbers or dates (days since 1970) in the training table.

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables import TableColumns
    >>> columns = TableColumns().fit(pd.DataFrame({"age": [31, 54], "town": ["Ulm", None]}))
    >>> columns.kinds_
    ['number', 'text']
    >>> columns.transform(pd.DataFrame({"town": ["Ulm"], "age": ["old"]}))
    Traceback (most recent call last):
    ValueError: The column 'age' holds 'old' in row 1, where the model was fitted with numbers: leave the cell empty if
    nothing is known, or name what stands for that with --missing (TableFile(..., missing=)).
    """

    def __init__(self, novelty: str = "range") -> None:
        self.novelty = novelty

    def fit(self, X: Any, y: Any = None) -> TableColumns:
        """Record names, kinds and ranges of the columns."""
        if self.novelty not in (RANGE, OFF):
            raise ValueError(f"novelty={self.novelty!r} is not known: give {RANGE!r} or {OFF!r}.")
        frame = as_frame(X)
        self.columns_ = list(frame.columns)
        self.kinds_ = [_kind_of(frame[name]) for name in self.columns_]
        self.writings_: dict[str, str] = {}
        self.ranges_ = {name: found for name, kind in self._kinds() if (found := _range_of(kind, frame[name]))}
        self.n_features_in_ = len(self.columns_)
        self.feature_names_in_ = np.array(self.columns_, dtype=object)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of the model, in its order and its types."""
        import pandas as pd

        check_is_fitted(self)
        # A chunk of a larger table keeps its row numbers, for messages.
        frame = X.rename(columns=str) if isinstance(X, pd.DataFrame) else as_frame(X)
        lacking = [name for name in self.columns_ if name not in frame.columns]
        if lacking:
            raise ValueError(lacking_columns(lacking, frame.columns, self.columns_))
        columns = {name: self._converted(name, kind, frame[name]) for name, kind in self._kinds()}
        return pd.DataFrame(columns).reset_index(drop=True)

    def novelties(self, transformed: Any) -> dict[int, tuple[float, str]]:
        """Position, distance and reason of the cases, as `transform` returns them, far outside the training range.

        The distance is in lengths of the range.
        """
        found: dict[int, tuple[float, str]] = {}
        kinds = dict(self._kinds())
        for name, (low, high, length) in self.limits().items():
            values = _as_floats(kinds[name], transformed[name])
            distance = np.maximum(low - values, values - high) / length
            for row in np.flatnonzero(distance > 1):
                if distance[row] > found.get(int(row), (0.0, ""))[0]:
                    told = _far_outside(kinds[name], name, values[row], low, high, writing_of(name, self._writings()))
                    found[int(row)] = float(distance[row]), told
        return found

    def limits(self) -> dict[str, tuple[float, float, float]]:
        """Training range of each column of numbers or dates, and its length; nothing where novelty is off.

        A case is a novelty if it lies more than the length outside. Dates count in days since 1970.
        """
        if getattr(self, "novelty", OFF) == OFF:
            return {}
        kinds = dict(self._kinds())
        ranges = getattr(self, "ranges_", {})
        return {name: (low, high, _length(kinds[name], low, high)) for name, (low, high) in ranges.items()}

    def _kinds(self) -> Iterator[tuple[str, str]]:
        return zip(self.columns_, self.kinds_, strict=True)

    def _converted(self, name: str, kind: str, column: Any) -> Any:
        """A column in its type; text is read in the writing that the column had."""
        writing = self._writings().get(name)
        if writing is not None and kind in (NUMBER, DATE):
            values = to_values(column, writing)
            _refuse_lost(name, column, values, f"{_WORDS[kind]} written like {example_of(writing)}", writing)
            column = values
        return _CONVERSIONS[kind](name, column)

    def _writings(self) -> dict[str, str]:
        return getattr(self, "writings_", {})  # models saved before there were any have none

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns to be read as text, whatever they look like: how they were written decides what they mean."""
        return tuple(name for name, kind in self._kinds() if kind == TEXT or name in self._writings())

    def remember_writings(self, writings: Mapping[str, str]) -> None:
        """Keep how the columns of this transformer are written in the table it was fitted on."""
        self.writings_ = {name: writing for name, writing in writings.items() if name in self.columns_}

    def remember_table(self, frame: Any) -> None:
        """Keep what is to be recognised in other tables of the one that the model was fitted on; see `seen`."""
        texts = [name for name, kind in self._kinds() if kind == TEXT]
        found = {name: categories_of(frame[name]) for name in texts}
        self.categories_ = {name: values for name, values in found.items() if values is not None}
        self.row_digests_ = row_digests(self.transform(frame.iloc[sampled_rows(len(frame))]))

    def unseen_values(self) -> UnseenValues:
        """What looks for values that the training table never had; models saved earlier know no categories."""
        kinds, ranges = dict(self._kinds()), getattr(self, "ranges_", {})
        return UnseenValues(
            getattr(self, "categories_", {}),
            [name for name, (low, _) in ranges.items() if kinds[name] == NUMBER and low >= 0],
        )

    def told_of_unseen(self, transformed: Any) -> str | None:
        """A sentence on values, as `transform` returns them, that the training table never had; None for nothing.

        Only a model that remembers its table knows: in a cross-validation most of what is new to a part is not new.
        """
        if not hasattr(self, "categories_"):
            return None
        unseen = self.unseen_values()
        unseen.look_at(transformed, 0)
        return unseen.sentence("the first is case")

    def share_seen(self, transformed: Any) -> float:
        """Share of the training table's rows that are in a table, as `transform` returns it; 0 if there are none."""
        remembered = getattr(self, "row_digests_", None)
        return 0.0 if remembered is None else share_found(remembered, row_digests(transformed))

    def read_with(
        self, decimal: str | None = None, dates: str | None = None, *, known_too: bool = True
    ) -> TableColumns:
        """A copy that reads numbers or dates in another writing, for a table that is written in another way.

        Unless `known_too`, columns whose writing is remembered are read as before.
        """
        given = {NUMBER: decimal, DATE: dates}
        changed = {}
        for name, kind in self._kinds():
            writing, known = given.get(kind), self._writings().get(name)
            if writing is not None and (known is None or known_too):
                changed[name] = writing + ("%" if kind == NUMBER and known is not None and known[-1] == "%" else "")
        other = copy(self)
        other.writings_ = self._writings() | changed
        return other

    def _column_sources(self, names: list[Any]) -> list[int]:
        """Positions of the columns in a table with these; a table without names has them in the order of training."""
        if names == list(range(len(self.columns_))):
            return names
        given = [str(name) for name in names]
        return [given.index(name) for name in self.columns_]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns."""
        return np.array(self.columns_, dtype=object)


def _kind_of(column: Any) -> str:
    import pandas as pd

    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred == "boolean":
        return YES_NO
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal"):
        return NUMBER
    if inferred == "string" and are_codes(column.dropna().unique().tolist()):
        return NUMBER  # what they are to the preparation of a table, too; the table itself keeps their zeros
    return DATE if inferred in ("datetime64", "datetime", "date") else TEXT


def _range_of(kind: str, column: Any) -> list[float] | None:
    """Smallest and largest value of a column of numbers or dates; None for another, or one without values."""
    if kind not in (NUMBER, DATE):
        return None
    values = _as_floats(kind, column)
    known = values[np.isfinite(values)]
    return None if len(known) == 0 else [float(known.min()), float(known.max())]


def _as_floats(kind: str, column: Any) -> Floats:
    """Numbers; dates as days since 1970."""
    import pandas as pd

    if kind == DATE:
        days = pd.to_datetime(column, utc=True).dt.tz_localize(None) - pd.Timestamp(0)
        return np.asarray(days / pd.Timedelta(days=1), dtype=np.float64)
    return np.asarray(pd.to_numeric(_within_floats(column), errors="coerce"), dtype=np.float64)


def _length(kind: str, low: float, high: float) -> float:
    """How far beyond the training range a value may lie. Time goes on: of dates at least some years."""
    return max(high - low, _MANY_DAYS) if kind == DATE else (high - low) or abs(high) or 1.0


def shown_number(number: float) -> str:
    """A number for people: whole ones in full, of others six digits or those before the point."""
    in_full = number == round(number) if abs(number) < 1e6 else abs(number) < 1e15
    return f"{number:,.0f}" if in_full else f"{number:,.6g}"


def _far_outside(kind: str, name: str, value: float, low: float, high: float, writing: str | None) -> str:
    import pandas as pd

    def shown(number: float) -> str:
        if kind == DATE:
            return in_writing((pd.Timestamp(0) + pd.Timedelta(days=number)).date(), writing)
        if writing is not None:
            return in_writing(number, writing)
        return shown_number(number)

    return (
        f"a person should look, because {name} = {shown(value)} lies far outside the training range ({shown(low)} to "
        f"{shown(high)})"
    )


def _to_numbers(name: str, column: Any) -> Any:
    import pandas as pd

    numbers = pd.to_numeric(_within_floats(column), errors="coerce").astype(np.float64)
    _refuse_lost(name, column, numbers, _WORDS[NUMBER])
    if np.isinf(numbers.to_numpy()).any():
        raise ValueError(f"The column {name!r} holds an infinite number; leave the cell empty where nothing is known.")
    return numbers


def _within_floats(column: Any) -> Any:
    """The column with whole numbers that no float can hold replaced by infinity."""
    if column.dtype != object:
        return column
    largest = sys.float_info.max
    return column.map(lambda value: np.inf if isinstance(value, int) and abs(value) > largest else value)


def _to_yes_no(name: str, column: Any) -> Any:
    known = {**dict.fromkeys(_TRUE, 1.0), **dict.fromkeys(_FALSE, 0.0)}
    numbers = column.map(lambda value: known.get(str(value).lower(), np.nan)).astype(np.float64)
    _refuse_lost(name, column, numbers, "True and False")
    return numbers


def _to_dates(name: str, column: Any) -> Any:
    import pandas as pd

    is_text = pd.api.types.infer_dtype(column, skipna=True) == "string"
    # In other text a date could only be guessed: is 03/02 in February or in March?
    dates = _iso_dates(column) if is_text else pd.to_datetime(column, errors="coerce")
    _refuse_lost(name, column, dates, "dates")
    return dates


def _to_text(name: str, column: Any) -> Any:
    text = column.map(str, na_action="ignore").astype("object").where(column.notna(), None)
    return text.astype("string")  # not "str": before pandas 3 it turns a missing value into the text "None"


def _refuse_lost(name: str, before: Any, after: Any, what: str, writing: str | None = None) -> None:
    lost = np.flatnonzero(after.isna().to_numpy() & before.notna().to_numpy())
    if len(lost):
        value, row = before.iloc[lost[0]], int(before.index[lost[0]]) + 1
        shown = repr(value) if len(repr(value)) <= 80 else f"{repr(value)[:77]}..."
        advice = (
            "leave the cell empty if nothing is known, or name what stands for that with --missing "
            "(TableFile(..., missing=))."
        )
        if isinstance(value, str) and (writing is not None or what == _WORDS[NUMBER]):
            advice = advice_on(value, writing) or advice
        raise ValueError(
            f"The column {name!r} holds {shown} in row {row}, where the model was fitted with {what}: {advice}"
        )


_CONVERSIONS = {NUMBER: _to_numbers, YES_NO: _to_yes_no, DATE: _to_dates, TEXT: _to_text}


def with_dates(features: Any) -> Any:
    """Turn the text columns in which every known value is an ISO date, with or without a time, into dates.

    This is decided on the whole table: its parts must not disagree on what a column is.
    """
    found = {
        name: _iso_dates(features[name])
        for name in features.columns
        if _kind_of(features[name]) == TEXT and _looks_like_dates(features[name].dropna())
    }
    known = {name: dates for name, dates in found.items() if (dates.notna() == features[name].notna()).all()}
    return features.assign(**known) if known else features


def _iso_dates(column: Any) -> Any:
    """Dates from ISO text, those with a time zone in universal time; what is not a date becomes missing."""
    import pandas as pd

    zoned = column.str.contains(_ZONE, na=False)
    if zoned.any() and not zoned.all():
        # pandas 2 would give a time without a zone the zone of the one before it.
        column = column.where(zoned, column.where(column.str.len() > _DAY_LENGTH, column + "T00:00") + "Z")
    return pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)


def _looks_like_dates(values: Any) -> bool:
    # Checking the first value first saves reading through nearly every column that holds no dates.
    first = isinstance(values.iloc[0], str) and _ISO_DATE.fullmatch(values.iloc[0]) is not None
    return first and all(isinstance(value, str) and _ISO_DATE.fullmatch(value) for value in values.unique().tolist())
