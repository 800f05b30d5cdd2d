"""How the numbers and dates of a column are written: 1.234,5 or 1,234.5, 13.1%, 31.12.2024.

A column is read as numbers or dates only if every cell that is not empty fits one writing. Whether ``1,234`` is more
than a thousand or a little more than one is decided by the other cells of the column, then by the other columns, then
by the separator of the file. What was decided is remembered with the model, so that a new table is read the same way
even if its own cells could be read in two ways.

A writing is kept as text: a number such as ``1.234,5%``, or the format of a date such as ``%d.%m.%Y``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

COMMA, POINT = "1.234,5", "1,234.5"  # decimal comma, decimal point; each with the other one between thousands
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
_SOFT = re.compile("[ '\u00a0\u2009\u202f\u2019]")  # between thousands, whichever the decimal sign is
_MINUS = "\u2212"
_NUMERIC_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}(:\d{2})?)?")
_NAMED_DATE = re.compile(r"\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}")


def _number_pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    grouped = rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+"
    point = re.escape(decimal)
    return re.compile(rf"[+-]?(?:(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d{{1,4}})?")


_PATTERNS = {COMMA: _number_pattern(",", "."), POINT: _number_pattern(".", ",")}
_SOFTLY_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:#\d{3})+(?:[.,]\d*)?")


@dataclass
class Writings:
    """How the columns of a table are written.

    Attributes
    ----------
    columns : dict of str to str
        Writing of each column that is not written plainly.
    decimal : str or None
        `COMMA` where that is how the table writes numbers, even in columns that happen to hold whole ones.
    ambiguous : dict of str to str
        Columns that could be read in two ways, with a cell that shows it.
    examples : dict of str to str
        A cell of each column in `columns`.
    codes : dict of str to str
        Columns of digits that are kept as they are written, with a cell that shows it: see `are_codes`.
    """

    columns: dict[str, str] = field(default_factory=dict)
    decimal: str | None = None
    ambiguous: dict[str, str] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)

    def shows(self, name: str) -> bool:
        """Whether the cells of a column show how it is written; whole numbers are written alike everywhere."""
        return not is_number_writing(self.columns[name]) or not self.examples[name].strip().isdecimal()


def is_number_writing(writing: str) -> bool:
    """Whether a writing is one of numbers, not of dates."""
    return not writing.startswith("%") and writing not in (DAY_FIRST, MONTH_FIRST)


def example_of(writing: str) -> str:
    """A cell in a writing."""
    if is_number_writing(writing):
        return writing
    if not writing.startswith("%"):
        return {DAY_FIRST: "31.12.2024 or 31/12/2024", MONTH_FIRST: "12/31/2024"}[writing]
    return datetime(2024, 12, 31, 23, 59).strftime(writing)


def to_values(column: Any, writing: str) -> Any:
    """Numbers or dates from text in a writing; what does not fit becomes missing. What is no text stays as it is."""
    if is_number_writing(writing):
        return _numbers(column, writing)
    return _dates(column, writing)


def _numbers(column: Any, writing: str) -> Any:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    found = {value: _number(value, writing) for value in column.dropna().unique().tolist()}
    return column.map(found).astype(np.float64)


def _number(value: Any, writing: str) -> float:
    """One number; NaN for what is none in this writing."""
    if not isinstance(value, str):
        return float(value) if isinstance(value, int | float | np.number) else np.nan
    text, is_percent = _bare(value)
    if is_percent != writing.endswith("%") and not (text == "0" or text is None):
        return np.nan
    plain = _plain(text, writing.rstrip("%"))
    return np.nan if plain is None else float(plain) / (100.0 if is_percent else 1.0)


def advice_on(value: str, writing: str | None) -> str | None:
    """What to do about a cell that is a number, though in another writing (None: plain numbers); None for others."""
    if writing is not None and not is_number_writing(writing):
        return None
    wanted = writing or POINT
    text, is_percent = _bare(value)
    expected, sign = wanted.rstrip("%"), wanted.endswith("%")
    other = POINT if expected == COMMA else COMMA
    fits, fits_other = (_plain(text, one) is not None for one in (expected, other))
    if not (fits or fits_other):
        return None
    told = []
    if not fits:
        decimal = "," if other == COMMA else "."
        told.append(f"if this table has decimal {'commas' if other == COMMA else 'points'}, say so with --decimal "
                    f"{decimal} (TableFile(..., decimal={decimal!r}))")  # fmt: skip
    if sign and not is_percent:
        told.append(f"a percent sign is expected, as in {value.strip()} %: write it into the cells, since without one "
                    f"{value.strip()} may be a part of 1 or of 100")  # fmt: skip
    elif is_percent and not sign:
        told.append("no percent sign is expected: take it off, in the unit that the model was fitted with")
    return f"{'; and '.join(told)}." if told else None


def _bare(value: str) -> tuple[str | None, bool]:
    """Text without white space around it and without a percent sign; None where spaces do not separate thousands."""
    text = value.strip().replace(_MINUS, "-")
    is_percent = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    softened = _SOFT.sub("#", text)
    if "#" in softened:
        return (softened.replace("#", "") if _SOFTLY_GROUPED.fullmatch(softened) else None), is_percent
    return text, is_percent


def _plain(text: str | None, writing: str) -> str | None:
    """A number as Python writes it; None for what is none."""
    if text is None or not _PATTERNS[writing].fullmatch(text):
        return None
    return text.replace(".", "").replace(",", ".") if writing == COMMA else text.replace(",", "")


def _dates(column: Any, writing: str) -> Any:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    if writing in (DAY_FIRST, MONTH_FIRST):
        known = column.dropna()
        found = None if known.empty else _date_format(known.unique().tolist(), writing)
        return pd.to_datetime(column, errors="coerce", format="ISO8601" if found is None else found[0])
    return pd.to_datetime(column, errors="coerce", format=writing)


def detect_writings(
    frame: Any,
    *,
    decimal: str | None = None,
    dates: str | None = None,
    separator: str | None = None,
    every: bool = False,
) -> Writings:
    """Find out how the text columns of a table are written.

    Parameters
    ----------
    frame : DataFrame
        Columns that are not text are passed over.
    decimal : str, optional
        `COMMA` or `POINT` where it is known.
    dates : str, optional
        `DAY_FIRST` or `MONTH_FIRST` where it is known.
    separator : str, optional
        Between the columns of the file: where it is no comma, a comma is more likely a decimal one.
    every : bool
        Whether numbers that are written plainly count, too: a table that was read as text throughout.
    """
    texts = {name: _texts(frame[name]) for name in frame.columns}
    codes = {name: first_padded(values) for name, values in texts.items() if are_codes(values)}
    texts = {name: values for name, values in texts.items() if values and name not in codes}
    fits = {name: _fitting(values, every) for name, values in texts.items()}
    fits = {name: fitting for name, fitting in fits.items() if fitting}
    found = Writings(codes=codes)
    certain = {fitting[0].rstrip("%") for fitting in fits.values() if len(fitting) == 1}
    certain |= {POINT} if _has_fractions(frame) else set()
    likely = decimal or _common(certain) or (POINT if separator in (",", None) else COMMA)
    for name, fitting in fits.items():
        wanted = likely + ("%" if fitting[0].endswith("%") else "")
        if wanted in fitting:
            found.columns[name] = wanted
            doubtful = _doubtful(texts[name]) if len(fitting) > 1 and decimal is None and not certain else None
            if doubtful is not None:
                found.ambiguous[name] = doubtful
        elif decimal is None:
            found.columns[name] = fitting[0]
    if COMMA in certain or decimal == COMMA:
        found.decimal = COMMA
    _add_dates(found, {name: values for name, values in texts.items() if name not in fits}, dates)
    found.examples = {name: _example(texts[name], writing) for name, writing in found.columns.items()}
    return found


def _has_fractions(frame: Any) -> bool:
    """Whether a column was read as numbers with a decimal point."""
    return any((frame[name] % 1 > 0).any() for name in frame.select_dtypes("floating").columns)


def _common(writings: set[str]) -> str | None:
    return next(iter(writings)) if len(writings) == 1 else None


def _texts(column: Any) -> list[str]:
    """Different cells of a column of text; none of another column."""
    import pandas as pd

    if column.dtype != object and not pd.api.types.is_string_dtype(column):
        return []
    values = column.dropna().unique().tolist()
    return values if values and all(isinstance(value, str) for value in values) else []


def _fitting(values: list[str], every: bool) -> list[str]:
    """Writings of numbers that all values fit; none if all are written plainly, unless these count."""
    bare = [_bare(value) for value in values]
    percents = {is_percent for text, is_percent in bare if text != "0"}
    if len(percents) > 1 or any(text is None for text, _ in bare):
        return []
    percent = "%" if True in percents else ""
    fitting = [writing + percent for writing in (COMMA, POINT) if all(_plain(text, writing) for text, _ in bare)]
    if not (fitting and (every or percent or any(_is_decorated(value) for value in values))):
        return []
    return fitting


def are_codes(values: Iterable[Any]) -> bool:
    """Whether cells hold codes rather than numbers, such as postcodes: equally many digits, in some a 0 in front.

    As a number 01587 would be shown as another code.
    """
    width, padded = 0, False
    for value in values:
        text = value.strip() if isinstance(value, str) else ""
        width = width or len(text)
        if width < 2 or len(text) != width or not (text.isascii() and text.isdecimal()):
            return False
        padded = padded or text.startswith("0")
    return padded


def first_padded(values: Iterable[str]) -> str:
    """The first of some codes that begins with 0."""
    return next(value for value in values if value.strip().startswith("0"))


def share_a_writing(values: list[str]) -> bool:
    """Whether text is numbers in one writing, or dates in one."""
    return bool(_fitting(values, every=True) or _date_format(values, None))


def _is_decorated(value: str) -> bool:
    """Whether pandas would not read a number: it has a comma, a separator of thousands, or an unusual minus."""
    return "," in value or value.count(".") > 1 or _SOFT.search(value.strip()) is not None or _MINUS in value


def _doubtful(values: Iterable[str]) -> str | None:
    """A cell that is another number with the other decimal sign."""
    return next((value for value in values if "," in value or "." in value), None)


def _example(values: list[str], writing: str) -> str:
    """A cell that shows the writing best."""
    signs = [value for value in values if any(sign in value for sign in ",.%")]
    return (signs or values)[0]


def _add_dates(found: Writings, texts: Mapping[str, list[str]], dates: str | None) -> None:
    """Add the columns that hold dates, not ISO dates, throughout."""
    doubtful: dict[str, list[str]] = {}
    for name, values in texts.items():
        formats = _date_format(values, dates)
        if formats is not None and len(formats) == 1:
            found.columns[name] = formats[0]
        elif formats is not None:
            doubtful[name] = formats
    known = {"m" in writing[1] for writing in found.columns.values() if writing.startswith("%")}
    for name, formats in doubtful.items():
        month_first = known == {True}
        found.columns[name] = formats[1] if month_first else formats[0]
        if not known:
            found.ambiguous[name] = texts[name][0]


def _date_format(values: list[Any], dates: str | None) -> list[str] | None:
    """Formats that all values fit: one, or two where day and month could be exchanged, the day first; None for none."""
    import pandas as pd

    if not all(_looks_like_date(value) for value in values[:20]):
        return None
    column = pd.Series([str(value) for value in values])
    fitting = [fmt for fmt in _candidates(str(values[0]).strip(), dates) if _fits(column, fmt)]
    return fitting or None


def _looks_like_date(value: Any) -> bool:
    text = value.strip() if isinstance(value, str) else ""
    return (_NUMERIC_DATE.fullmatch(text) or _NAMED_DATE.fullmatch(text)) is not None


def _candidates(first: str, dates: str | None) -> list[str]:
    """Formats of dates that look like this one, the day first if that is possible."""
    colon, gap = first.count(":"), "T" if "T" in first else " "
    time = {0: "", 1: f"{gap}%H:%M", 2: f"{gap}%H:%M:%S"}[min(colon, 2)]
    if _NAMED_DATE.fullmatch(first):
        return [f"%d{sep}{month}{sep}%Y" for sep in " -" for month in ("%b", "%B")]
    parts = re.split("[./-]", first)
    sep = first[len(parts[0])]
    if len(parts[0]) == 4:
        return [] if sep == "-" else [f"%Y{sep}%m{sep}%d{time}"]  # with hyphens it is an ISO date
    year = "%Y" if len(re.match(r"\d+", parts[2])[0]) == 4 else "%y"  # type: ignore[index]
    day_first, month_first = f"%d{sep}%m{sep}{year}{time}", f"%m{sep}%d{sep}{year}{time}"
    # Nobody writes a month before the day with points between them.
    both = [day_first] if sep == "." else [day_first, month_first]
    return {DAY_FIRST: both[:1], MONTH_FIRST: [month_first], None: both}[dates]


def _fits(column: Any, date_format: str) -> bool:
    import pandas as pd

    return bool(pd.to_datetime(column, format=date_format, errors="coerce").notna().all())


def describe(found: Writings) -> list[str]:
    """Say how the columns of a table were read, one sentence for each writing."""
    groups: dict[str, list[str]] = {}
    for name, writing in found.columns.items():
        if found.shows(name):
            groups.setdefault(writing, []).append(name)
    sentences = [_sentence(writing, names, found) for writing, names in groups.items()]
    if found.codes:
        example = next(iter(found.codes.values()))
        sentences.append(
            f"zeros in front in {_columns(list(found.codes))}: {example!r} is shown as it is written, and models take "
            "it as a number"
        )
    return sentences


def _sentence(writing: str, names: list[str], found: Writings) -> str:
    column = _columns(names)
    name = next((name for name in names if name in found.ambiguous), names[0])
    example = found.ambiguous.get(name, found.examples.get(name, ""))
    if is_number_writing(writing):
        what, value = _number_words(writing), f"{_number(example, writing):.10g}"
        option = "--decimal . or --decimal ,"
    else:
        what = {"%d": "day-first dates", "%m": "month-first dates"}.get(writing[:2], "dates")
        value = str(_dates_of(example, writing))
        option = "--dates day-first or --dates month-first"
    text = f"{what} in {column}: {example!r} is read as {value}"
    return f"{text}; it could be the other way round: say which with {option}" if name in found.ambiguous else text


def _columns(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"column {shown}" if len(names) == 1 else f"columns {shown}"


def _number_words(writing: str) -> str:
    words = "decimal commas" if writing.startswith(COMMA) else "numbers with separated thousands"
    if writing.endswith("%"):
        return "percentages" + (" with decimal commas" if writing.startswith(COMMA) else "")
    return words


def _dates_of(example: str, writing: str) -> Any:
    import pandas as pd

    found = pd.to_datetime(example, format=writing)
    return found.date() if found == found.normalize() else found
