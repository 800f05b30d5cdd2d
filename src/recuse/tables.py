"""Tables of cases: read from files, checked, streamed, and brought into the form a model was fitted with."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .labels import plain, some

NUMBER, YES_NO, DATE, TEXT = "number", "yes/no", "date", "text"
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_PARQUET = (".parquet", ".pq")
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISO_DATE = re.compile(_ISO_DAY.pattern + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?")
_FEW_ROWS = 50  # up to here different values in every row may be chance
_TRUE, _FALSE = {"true", "1", "1.0"}, {"false", "0", "0.0"}


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the ending that tells the format: ".csv", ".tsv" or ".parquet", also before ".gz"."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    if ending in _PARQUET:
        return ".parquet"
    if ending in _SEPARATORS:
        return ending
    raise ValueError(f"{os.fspath(path)}: not a table format; give a .csv, .tsv or .parquet file, or one of them .gz.")


def read_table(path: str | os.PathLike[str], *, text_columns: tuple[str, ...] = ()) -> Any:
    """Read a CSV, TSV or Parquet file, gzipped or not, into a pandas DataFrame.

    Parameters
    ----------
    path : str or path-like
        The ending tells the format.
    text_columns : tuple of str
        Columns to read as text even if they look like numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such file; it is empty, unreadable, or has two columns of one name.
    """
    import pandas as pd

    chunks = list(read_chunks(path, text_columns=text_columns, size=None))
    frame = chunks[0] if len(chunks) == 1 else pd.concat(chunks)
    if len(frame) == 0:
        raise ValueError(f"{os.fspath(path)} holds no rows: a header alone is not a table of cases.")
    return frame


def read_chunks(
    path: str | os.PathLike[str], *, text_columns: tuple[str, ...] = (), size: int | None = 50_000
) -> Iterator[Any]:
    """Read a table piece by piece; the row index goes on from piece to piece.

    Parameters are those of `read_table`, and `size`: rows in a piece, None for all at once.
    """
    kind = table_format(path)
    if not Path(path).is_file():
        state = "is a folder" if Path(path).is_dir() else "does not exist"
        raise FileNotFoundError(f"{os.fspath(path)} {state}: give the file that holds the table.")
    try:
        reader = _parquet_chunks(path, size) if kind == ".parquet" else _text_chunks(path, kind, text_columns, size)
        yield from reader
    except _refusals() as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, UnicodeDecodeError):
            reason = "it is not written in UTF-8; save it as UTF-8 and try again."
        raise ValueError(f"{os.fspath(path)} cannot be read as {kind[1:]}: {reason}") from error


class _DuplicateError(ValueError):
    """Two columns of one name."""


def _refusals() -> tuple[type[Exception], ...]:
    """What pandas and pyarrow raise for files that are not what they seem."""
    import zlib

    import pyarrow as pa

    return (pa.ArrowException, ValueError, EOFError, OSError, zlib.error)


def _text_chunks(path: Any, kind: str, text_columns: tuple[str, ...], size: int | None) -> Iterator[Any]:
    import pandas as pd

    options: dict[str, Any] = {"sep": _SEPARATORS[kind], "compression": "infer"}
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **options)
    names = header.iloc[0].tolist()
    _require_distinct(names)
    _require_separated(names, options["sep"])
    dtype = {name: str for name in text_columns if name in names}
    if size is None:
        yield pd.read_csv(path, dtype=dtype, low_memory=False, **options)
    else:
        with pd.read_csv(path, dtype=dtype, chunksize=size, **options) as chunks:
            yield from chunks


def _parquet_chunks(path: Any, size: int | None) -> Iterator[Any]:
    import gzip

    import pandas as pd
    import pyarrow.parquet as pq

    opener: Any = gzip.open if str(path).lower().endswith(".gz") else open
    with opener(path, "rb") as file:
        parquet = pq.ParquetFile(file)
        _require_distinct(parquet.schema_arrow.names)
        if size is None:
            yield parquet.read().to_pandas().reset_index(drop=True)
            return
        start = 0
        for batch in parquet.iter_batches(batch_size=size):
            frame = batch.to_pandas().reset_index(drop=True)
            frame.index = pd.RangeIndex(start, start + len(frame))
            start += len(frame)
            yield frame


def _require_distinct(names: list[str]) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise _DuplicateError(f"two columns have the name {twice[0]!r}; give every column its own.")


def _require_separated(names: list[str], separator: str) -> None:
    """A header in one piece that holds another separator is not a table of one column."""
    for other in {",", ";", "\t"} - {separator}:
        if len(names) == 1 and other in names[0]:
            shown = {",": "commas", ";": "semicolons", "\t": "tabs"}
            raise ValueError(
                f"its header has {shown[other]} and no {shown[separator]}; save it with {shown[separator]} between the "
                f"columns{', or name it .tsv' if other == chr(9) else ''}."
            )


def as_frame(X: Any) -> Any:
    """Return a table of any kind as a pandas DataFrame with text column names and rows numbered from 0."""
    import pandas as pd

    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(f"X must be a table of two dimensions; got shape {values.shape}.")
        X = pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])])
    frame = X.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    _require_distinct(list(frame.columns))
    return frame


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases with known outcomes, checked.

    Attributes
    ----------
    features : DataFrame
        Everything but the outcome.
    outcomes : ndarray
        One of two classes for each case.
    positive : object
        The class that a false alarm wrongly claims.
    target : str
        Name of the outcome column.
    name : str
        Where the cases come from.
    """

    features: Any
    outcomes: NDArray[Any]
    positive: Any
    target: str
    name: str

    @property
    def classes(self) -> list[Any]:
        """The two classes, negative first."""
        return sorted((plain(label) for label in np.unique(self.outcomes)), key=lambda label: label == self.positive)


def check_cases(
    frame: Any, target: str, positive: Any = None, *, drop: Iterable[str] = (), name: str = "table", least: int = 6
) -> Cases:
    """Split a table into features and outcomes, or say what is wrong with it.

    Parameters
    ----------
    frame : DataFrame
        The whole table.
    target : str
        Name of the outcome column.
    positive : object, optional
        The positive class, or its name as text; the second of the sorted classes by default.
    drop : iterable of str
        Columns to leave out.
    name : str
        How to call the table in messages.
    least : int
        Cases needed of each class.
    """
    _require_column(frame, target, "to predict", name)
    dropped = list(dict.fromkeys(drop))
    for column in dropped:
        _require_column(frame, column, "to leave out", name)
        if column == target:
            raise ValueError(f"drop={column!r} is the column to predict: leave out others only.")
    outcomes = _as_labels(frame[target], target, name)
    classes, counts = np.unique(outcomes, return_counts=True)
    _require_two_classes(classes, target, name)
    rare = int(np.argmin(counts))
    if counts[rare] < least:
        raise ValueError(
            f"{name} has only {counts[rare]} cases with {target} = {plain(classes[rare])!r}; at least {least} are "
            "needed."
        )
    features = frame.drop(columns=[target, *dropped]).reset_index(drop=True)
    _check_features(features, name)
    features = _with_dates(features)
    return Cases(features, outcomes, _find_positive(positive, classes, target), str(target), name)


def _require_column(frame: Any, wanted: str, use: str, name: str) -> None:
    if wanted not in frame.columns:
        close = difflib.get_close_matches(str(wanted), list(frame.columns), n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {some(frame.columns)}."
        raise ValueError(f"{name} has no column {wanted!r} {use}: {hint}")


def _with_dates(features: Any) -> Any:
    """The table with those text columns as dates in which every known value is an ISO date, with or without a time.

    It is settled on the whole table: parts of it must not disagree on what a column is.
    """
    found = {
        name: _iso_dates(features[name])
        for name in features.columns
        if _kind_of(features[name]) == TEXT and _looks_like_dates(features[name].dropna())
    }
    known = {name: dates for name, dates in found.items() if (dates.notna() == features[name].notna()).all()}
    return features.assign(**known) if known else features


def _iso_dates(column: Any) -> Any:
    """Dates of ISO text, those with a zone in universal time; what is none is missing."""
    import pandas as pd

    return pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)


def _looks_like_dates(values: Any) -> bool:
    # The first value spares nearly every other column the search through all of them.
    first = isinstance(values.iloc[0], str) and _ISO_DATE.fullmatch(values.iloc[0]) is not None
    return first and all(isinstance(value, str) and _ISO_DATE.fullmatch(value) for value in values.unique().tolist())


def identifier_hints(features: Any) -> list[str]:
    """Say of each column that looks like an identifier how to leave it out.

    Its values are text or whole numbers, all different; whole numbers follow one another as well, or the name says
    so. In small tables nothing is said.
    """
    return [
        f"column {name!r} holds a different value in every row and looks like an identifier: leave it out with "
        + (f"--drop {shlex.quote(name)} (in Python, drop=[{name!r}])" if _can_be_listed(name) else f"drop=[{name!r}]")
        for name in features.columns
        if len(features) > _FEW_ROWS and _is_identifier(name, features[name])
    ]


def _can_be_listed(name: str) -> bool:
    """Whether the command line, which takes names separated by commas, can name a column."""
    return "," not in name and name == name.strip()


def _is_identifier(name: str, column: Any) -> bool:
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=False)
    if kind not in ("string", "integer") or not column.is_unique or column.isna().any():
        return False
    if kind == "string" and _ISO_DAY.match(column.iloc[0]):
        return False  # times, if not all of them written alike
    named = re.fullmatch(r"(.*_)?(id|index)", name.lower()) is not None
    return kind == "string" or named or int(column.max()) - int(column.min()) == len(column) - 1


def _as_labels(column: Any, target: str, name: str) -> NDArray[Any]:
    missing = int(column.isna().sum())
    if missing == len(column):
        raise ValueError(f"{name}: the column {target!r} to predict is empty.")
    if missing:
        raise ValueError(f"{name}: {missing} cases have no {target}; every case needs a known outcome.")
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        return values.astype(np.int64)
    if values.dtype.kind in "iuf":
        return values
    return np.array([str(value) for value in values.tolist()])


def _require_two_classes(classes: NDArray[Any], target: str, name: str) -> None:
    if len(classes) == 1:
        raise ValueError(f"{name}: the column {target!r} holds {plain(classes[0])!r} only; two outcomes are needed.")
    if len(classes) > 2:
        raise ValueError(
            f"{name}: the column {target!r} holds {len(classes)} different outcomes {some(classes)}; exactly two are "
            "needed. Compare two of them, or one with the rest."
        )


def _find_positive(positive: Any, classes: NDArray[Any], target: str) -> Any:
    if positive is None:
        return plain(classes[1])
    for label in classes:
        if plain(label) == positive or str(plain(label)) == str(positive):
            return plain(label)
    raise ValueError(f"positive={positive!r} does not occur in {target}: it holds {some(classes)}.")


def _check_features(features: Any, name: str) -> None:
    if features.shape[1] == 0:
        raise ValueError(f"{name} has no column besides the one to predict.")
    empty = [column for column in features.columns if features[column].isna().all()]
    if empty:
        raise ValueError(f"{name}: the column {empty[0]!r} is empty in every row; remove it or fill it.")
    for column in features.select_dtypes("floating").columns:
        if np.isinf(features[column].to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise ValueError(
                f"{name}: the column {column!r} holds an infinite number; leave the cell empty where nothing is known."
            )


class TableColumns(TransformerMixin, BaseEstimator):
    """First step of a model on tables: the columns it was fitted with, in the form they had.

    `transform` takes any table with these columns, in any order and with others besides, and returns them as numbers,
    dates and text. It refuses a table that lacks one, or that holds text where numbers were.

    Attributes
    ----------
    columns_ : list of str
        Names.
    kinds_ : list of str
        "number", "yes/no", "date" or "text", for each column.

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables import TableColumns
    >>> columns = TableColumns().fit(pd.DataFrame({"age": [31, 54], "town": ["Ulm", None]}))
    >>> columns.kinds_
    ['number', 'text']
    >>> columns.transform(pd.DataFrame({"town": ["Ulm"], "age": ["old"]}))
    Traceback (most recent call last):
    ValueError: The column 'age' holds 'old' in row 1, where the model was fitted with numbers.
    """

    def fit(self, X: Any, y: Any = None) -> TableColumns:
        """Note names and kinds of the columns."""
        frame = as_frame(X)
        self.columns_ = list(frame.columns)
        self.kinds_ = [_kind_of(frame[name]) for name in self.columns_]
        self.n_features_in_ = len(self.columns_)
        self.feature_names_in_ = np.array(self.columns_, dtype=object)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of the model, in its order and its types."""
        import pandas as pd

        check_is_fitted(self)
        # Row numbers of a piece of a larger table are kept for messages.
        frame = X if isinstance(X, pd.DataFrame) else as_frame(X)
        lacking = [name for name in self.columns_ if name not in frame.columns]
        if lacking:
            others = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise ValueError(f"The table lacks the column {lacking[0]!r}{others} that the model was fitted with.")
        columns = {
            name: _CONVERSIONS[kind](name, frame[name]) for name, kind in zip(self.columns_, self.kinds_, strict=True)
        }
        return pd.DataFrame(columns).reset_index(drop=True)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns to be read as text, whatever they look like."""
        return tuple(name for name, kind in zip(self.columns_, self.kinds_, strict=True) if kind == TEXT)

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
    return DATE if inferred in ("datetime64", "datetime", "date") else TEXT


def _to_numbers(name: str, column: Any) -> Any:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    _refuse_lost(name, column, numbers, "numbers")
    if np.isinf(numbers.to_numpy()).any():
        raise ValueError(f"The column {name!r} holds an infinite number; leave the cell empty where nothing is known.")
    return numbers


def _to_yes_no(name: str, column: Any) -> Any:
    known = {**dict.fromkeys(_TRUE, 1.0), **dict.fromkeys(_FALSE, 0.0)}
    numbers = column.map(lambda value: known.get(str(value).lower(), np.nan)).astype(np.float64)
    _refuse_lost(name, column, numbers, "True and False")
    return numbers


def _to_dates(name: str, column: Any) -> Any:
    import pandas as pd

    is_text = pd.api.types.infer_dtype(column, skipna=True) == "string"
    # Of other text a date could only be guessed: is 03/02 in February or in March?
    dates = _iso_dates(column) if is_text else pd.to_datetime(column, errors="coerce")
    _refuse_lost(name, column, dates, "dates")
    return dates


def _to_text(name: str, column: Any) -> Any:
    text = column.map(str, na_action="ignore").astype("object").where(column.notna(), None)
    return text.astype("string")  # not "str", which makes the text "None" of a hole before pandas 3


def _refuse_lost(name: str, before: Any, after: Any, what: str) -> None:
    lost = np.flatnonzero(after.isna().to_numpy() & before.notna().to_numpy())
    if len(lost):
        value, row = before.iloc[lost[0]], int(before.index[lost[0]]) + 1
        raise ValueError(f"The column {name!r} holds {value!r} in row {row}, where the model was fitted with {what}.")


_CONVERSIONS = {NUMBER: _to_numbers, YES_NO: _to_yes_no, DATE: _to_dates, TEXT: _to_text}
