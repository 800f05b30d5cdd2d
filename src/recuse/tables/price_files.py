"""Prices of every answer to every class, read from a table file: rows truth, columns answer."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..class_costs import ClassCosts
from ..labels import preview
from ..parameters import doubt_about
from .reading import read_chunks
from .sources import TableFile

REJECT_NAMES = ("reject", "review", "manual review", "[abstain]")
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def read_costs(file: str | os.PathLike[str] | TableFile, reject: Any = None) -> ClassCosts:
    r"""Read the prices of every answer to every class from a table file.

    Parameters
    ----------
    file : path-like or TableFile
        A row for each true class, its name in the first column, and a column for each answer. The diagonal is empty
        or 0. A column "reject" or "review" holds the price of rejecting a case of each class. Any format that
        `recuse.tables.read_table` reads; numbers may have a decimal comma.
    reject : float or dict, optional
        Price of rejecting a case, where the file has no such column; by default a fifth of the cheapest error.

    Returns
    -------
    ClassCosts
        Classes have the names that the file gives them, as text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.tables import read_costs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "prices.csv"
    ...     _ = path.write_text("truth,cold,flu,reject\ncold,,2,0.4\nflu,5,,0.5\n")
    ...     print(read_costs(path).table())
    price (row: true class)  'cold'  'flu'  review
    'cold'                        0      2     0.4
    'flu'                         5      0     0.5
    'cold' or 'flu': review while the probability of 'flu' is between 0.0816 and 0.762
    """
    source = TableFile.of(file)
    (frame,) = read_chunks(source, text_columns=None, size=None)
    rows = _rows(frame, source.name)
    column = _reject_column(rows, [name for row in rows.values() for name in row])
    if column is not None and reject is not None:
        raise ValueError(
            f"reject={reject!r} is given, and {source.name} has a column {column!r}: leave out one of the two."
        )
    answers = [name for name in next(iter(rows.values())) if name != column]
    _require_one_price_of_review(list(rows), answers, column, source.name)
    _require_square(list(rows), answers, source.name)
    errors = {
        truth: {answer: _price(row[answer], truth, answer, source.name) for answer in rows if answer != truth}
        for truth, row in rows.items()
    }
    for truth, row in rows.items():
        _require_free(row[truth], truth, source.name)
    if column is not None:
        reject = {truth: _price(row[column], truth, column, source.name) for truth, row in rows.items()}
    return ClassCosts(errors=errors, reject=reject)


def _rows(frame: Any, name: str) -> dict[str, dict[str, Any]]:
    """The cells by row and column, the names without white space around them."""
    if frame.shape[1] < 2 or len(frame) < 2:
        raise ValueError(
            f"{name} holds {len(frame)} rows and {frame.shape[1]} columns: a table of prices has a row for each "
            "outcome, its name in the first column, and a column for each answer."
        )
    heads = [str(head).strip() for head in frame.columns[1:]]
    truths = [_text(cell) for cell in frame.iloc[:, 0]]
    for what, found in (("row", truths), ("column", heads)):
        if "" in found:
            raise ValueError(f"{name}: {what} {found.index('') + 1} has no name: write the outcome that it prices.")
        twice = next((label for label in found if found.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"{name}: two {what}s have the name {twice!r}: keep one of them.")
    return {
        truth: dict(zip(heads, cells, strict=True))
        for truth, cells in zip(truths, frame.iloc[:, 1:].itertuples(index=False, name=None), strict=True)
    }


def _text(cell: Any) -> str:
    """A cell as a person reads it: a whole number without its decimals."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _reject_column(truths: Iterable[str], heads: Iterable[str]) -> str | None:
    """The column with the reject prices, unless it is an outcome of that name."""
    return next((head for head in heads if head.lower() in REJECT_NAMES and head not in truths), None)


def _require_one_price_of_review(truths: list[str], answers: list[str], column: str | None, name: str) -> None:
    """Refuse the price of a review in a row, or in two columns."""
    for label in answers:
        if column is not None and label.lower() in REJECT_NAMES and label not in truths:
            raise ValueError(f"{name}: columns {column!r} and {label!r} both price manual review: keep one of them.")
    for label in truths:
        if label.lower() in REJECT_NAMES and label not in answers:
            raise ValueError(
                f"{name}: row {label!r} prices manual review, which is a column: a row is what is true of a "
                "case, a column what it is answered with."
            )


def _require_square(truths: list[str], answers: list[str], name: str) -> None:
    """Refuse rows without a column, and columns without a row."""
    for what, other, found, known in (
        ("column", "row", answers, truths),
        ("row", "column", truths, answers),
    ):
        lacking = next((label for label in found if label not in known), None)
        if lacking is None:
            continue
        close = difflib.get_close_matches(lacking, [label for label in known if label not in found], n=1)
        meant = f", and {other} {close[0]!r} no {what}" if close else ""
        raise ValueError(
            f"{name}: {what} {lacking!r} has no {other} of that name{meant}: give every outcome a row and a column, "
            "and call the price of manual review 'reject'."
        )


def _price(cell: Any, truth: str, answer: str, name: str) -> float:
    """The price in a cell, or what is wrong with it."""
    place = f"{name}: row {truth!r}, column {answer!r}"
    text = _text(cell)
    if text == "":
        raise ValueError(f"{place} is empty: give the price of {_what(truth, answer)}.")
    price = _number(cell, place)
    if not (math.isfinite(price) and price > 0):
        raise ValueError(
            f"{place} holds {text!r}: the price of {_what(truth, answer)} must be a number greater than 0."
        )
    return price


def _what(truth: str, answer: str) -> str:
    if answer.lower() in REJECT_NAMES:
        return f"reviewing a case of {truth!r}"
    return f"answering {answer!r} to a case of {truth!r}"


def _require_free(cell: Any, truth: str, name: str) -> None:
    """Refuse a price of the right answer."""
    text = _text(cell)
    if text in ("", "-", "\N{EN DASH}", "\N{EM DASH}"):
        return
    place = f"{name}: row {truth!r}, column {truth!r}"
    if _number(cell, place) != 0:
        raise ValueError(f"{place} holds {text!r}: the right answer is free, so leave the cell empty or write 0.")


def _number(cell: Any, place: str) -> float:
    """The number that a cell holds."""
    text = _text(cell)
    if text.endswith("%"):
        raise ValueError(f"{place} holds {text!r}: a price is an amount, not a share; write a number such as 0.05.")
    if (doubt := doubt_about(text)) is not None and isinstance(cell, str):
        raise ValueError(f"{place}: {doubt}.")
    if _COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if not (_PLAIN.fullmatch(text) or text.lower().lstrip("+-") in ("inf", "infinity", "nan")):
        such = re.sub(",", "", text) if _GROUPED.fullmatch(text) else "12.5"
        raise ValueError(f"{place} holds {text!r}: write the price as a number alone, such as {such}.")
    return float(text)


def named_like(costs: ClassCosts, labels: Iterable[Any]) -> ClassCosts:
    """The same prices with the labels of a table in place of text that reads like them: 1 in place of "1"."""
    if costs.classes is None:
        return costs
    known: Mapping[str, Any] = {str(label): label for label in labels}
    renamed = costs.renamed(known.get(str(label), label) for label in costs.classes)
    assert isinstance(renamed, ClassCosts)
    return renamed


def require_priced(costs: ClassCosts, labels: list[Any], target: str, source: str) -> None:
    """Refuse outcomes without a price, and name the one that was perhaps meant."""
    assert costs.classes is not None
    lacking = [label for label in labels if label not in costs.classes]
    if not lacking:
        return
    spare = [str(label) for label in costs.classes if label not in labels]
    close = difflib.get_close_matches(str(lacking[0]), spare, n=1)
    hint = f"; it has {close[0]!r}, which no case has" if close else ""
    raise ValueError(
        f"{source} has no prices of {target} = {preview(lacking)}{hint}: name the outcomes as the table does, and give "
        "each a row and a column."
    )
