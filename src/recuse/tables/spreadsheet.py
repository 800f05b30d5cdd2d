"""CSV files that spreadsheets open: text that one would run as a formula gets an apostrophe, which marks it as text.

A label such as ``=HYPERLINK(...)`` comes from whoever filled in the table, and whoever opens the answers would run it.
Numbers stay numbers, also negative ones, and a lone + or - stays as it is. `restored` takes the apostrophes off again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Not numbers, nor a single character, which no spreadsheet runs. Some take off the white space before a formula.
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*\Z"
_FORMULA = re.compile(rf"(?!\s*{_NUMBER})(\s*[=+\-@]|[\t\r\n]).", re.DOTALL)
_MARK = "'"


def to_csv(frame: Any, *, header: bool = True, raw: bool = False, separator: str = ",") -> bytes:
    """Return a data frame as CSV; unless `raw`, without text that a spreadsheet would run."""
    shown = frame if raw else neutralised(frame)
    content: bytes = shown.to_csv(index=False, header=header, sep=separator).encode()
    return content


def neutralised(frame: Any) -> Any:
    """Return a table without text that a spreadsheet would run: an apostrophe before it marks it as text."""
    return _with_text(frame, _neutralised)


def restored(frame: Any) -> Any:
    """Return a table as it was before it was written: without the apostrophes that keep spreadsheets from running text.

    Parameters
    ----------
    frame : DataFrame
        Answers, or the decisions of a comparison, as `pandas.read_csv` read them.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables import restored
    >>> restored(pd.DataFrame({"decision": ["'=1+1", "'s Hertogenbosch", "-1"]}))["decision"].tolist()
    ['=1+1', "'s Hertogenbosch", '-1']
    """
    return _with_text(frame, _restored)


def _with_text(frame: Any, change: Callable[[str], str]) -> Any:
    """A copy of a frame with its text changed, cell by cell."""
    changed = frame.copy()
    for name in frame.columns:
        if frame[name].dtype.kind == "O":  # objects, text and categories
            changed[name] = [change(value) if isinstance(value, str) else value for value in frame[name].astype(object)]
    return changed


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text.lstrip(_MARK)) is not None


def _neutralised(text: str) -> str:
    return _MARK + text if _is_formula(text) else text


def _restored(text: str) -> str:
    return text[1:] if text.startswith(_MARK) and _is_formula(text) else text
