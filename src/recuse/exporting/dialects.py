"""What differs between DuckDB, PostgreSQL and SQLite: literals, how columns are read, and a few functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .program import DATE, NUMBER, TEXT, YES_NO, Column

_SPACE = " \t\n\r\f\v"


class Database(ABC):
    """What differs between databases."""

    name: str
    double: str
    text: str = "VARCHAR"
    keep_apart = ("", "")  # before and behind each group
    greatest, least = "greatest", "least"
    is_truth: str | None = None  # whether a value is true or false, and no text

    @abstractmethod
    def number(self, value: float) -> str:
        """A literal that is read as exactly this number."""

    @abstractmethod
    def read(self, column: Column, raw: str) -> str:
        """A column as number or text; NULL where it is missing or cannot be read."""

    def is_checked(self, column: Column) -> bool:
        """Whether something may be there that cannot be read."""
        return column.kind != TEXT or self.is_truth is not None

    def unread(self, column: Column, raw: str, value: str) -> str:
        """Whether something is there that cannot be read.

        Databases that know truth values may have made them of text such as "yes", which is then lost.
        """
        lost = f"({value}) IS NULL" if self.is_truth is None or column.kind != TEXT else self.is_truth.format(raw)
        return f"{raw} IS NOT NULL AND {lost}"

    def identifier(self, name: str) -> str:
        """A quoted name."""
        return _quoted(name, '"')

    def string(self, value: str) -> str:
        """A quoted text."""
        return _quoted(value, "'")

    def floor(self, x: str) -> str:
        """The largest whole number that is not larger."""
        return f"floor({x})"

    def test_value(self, column: Column, value: Any) -> str:
        """A literal in the column of a self-test."""
        if value is None:
            return f"CAST(NULL AS {self.type_of(column)})"
        if column.kind == DATE:
            return f"CAST({self.string(str(value))} AS {self.type_of(column)})"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return f"CAST({self.string(value)} AS {self.text})"
        return self.any_number(value)

    def type_of(self, column: Column) -> str:
        """Type of a column in a self-test."""
        return {NUMBER: self.double, YES_NO: "BOOLEAN", DATE: "TIMESTAMP", TEXT: self.text}[column.kind]

    def any_number(self, value: float) -> str:
        """A number that may be infinite or none."""
        if value != value or value in (float("inf"), float("-inf")):
            name = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
            return f"CAST('{name}' AS {self.double})"
        return self.number(value)


def _quoted(text: str, quote: str) -> str:
    if "\0" in text:
        raise ValueError(f"The name or text {text!r} holds a null character, which no SQL text can: rename it.")
    return quote + text.replace(quote, 2 * quote) + quote


class DuckDB(Database):
    """DuckDB, where a literal without an exponent would be a decimal number."""

    name, double = "duckdb", "DOUBLE"
    is_truth = "typeof({}) = 'BOOLEAN'"

    def number(self, value: float) -> str:
        """A literal that is read as exactly this number."""
        shown = repr(float(value))
        return _signed(shown if "e" in shown else f"{shown}e0")

    def read(self, column: Column, raw: str) -> str:
        """A column as number or text; NULL where it is missing or cannot be read."""
        if column.kind == NUMBER:
            return f"TRY_CAST({raw} AS DOUBLE)"
        if column.kind == DATE:
            return f"epoch_us(TRY_CAST({raw} AS TIMESTAMP)) / 1e6"
        as_text = f"CAST({raw} AS VARCHAR)"
        return _yes_no(self, as_text) if column.kind == YES_NO else _cleaned(self, column, as_text)


class PostgreSQL(Database):
    """PostgreSQL, where a cast of unreadable text ends the whole query: text is looked at first."""

    name, double, text = "postgresql", "float8", "TEXT"
    keep_apart = ("", " OFFSET 0")
    is_truth = "pg_typeof({}) = 'boolean'::regtype"
    _number = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
    _special = r"^\s*([-+]?inf(inity)?|nan)\s*$"
    _date = r"^\s*-?[0-9]{4,}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+(Z|[-+][0-9:]+)?)?\s*$"

    def number(self, value: float) -> str:
        """A literal that is read as exactly this number."""
        return f"float8 '{float(value)!r}'"

    def read(self, column: Column, raw: str) -> str:
        """A column as number or text; NULL where it is missing or cannot be read."""
        as_text = f"CAST({raw} AS TEXT)"
        if column.kind == NUMBER:
            number, special = self.string(self._number), self.string(self._special)
            return f"CASE WHEN {as_text} ~ {number} OR {as_text} ~* {special} THEN CAST({as_text} AS float8) END"
        if column.kind == DATE:
            found = f"CAST({as_text} AS timestamp)"
            return (
                f"CASE WHEN {as_text} ~ {self.string(self._date)} THEN CAST(extract(epoch FROM {found}) AS float8) END"
            )
        return _yes_no(self, as_text) if column.kind == YES_NO else _cleaned(self, column, as_text)


class SQLite(Database):
    """SQLite, where text that is no number is cast to 0: a cast counts only if it equals what was cast."""

    name, double, text = "sqlite", "REAL", "TEXT"
    keep_apart = ("MATERIALIZED ", "")
    greatest, least = "max", "min"

    def number(self, value: float) -> str:
        """A literal that is read as exactly this number.

        SQLite may miss the nearest number by a digit where a literal has many: those are written as whole numbers times
        or divided by powers of two, which it reads exactly.
        """
        value = float(value)
        shown = repr(value)
        digits = shown.lstrip("-").replace(".", "").split("e")[0].strip("0")
        if len(digits) <= 15 and (value == 0 or 1e-7 < abs(value) < 1e15):
            return _signed(shown)
        top, bottom = value.as_integer_ratio()
        text = f"{abs(top)}.0" if abs(top) < 2**53 else _powers(abs(top))
        while bottom > 1:
            text, bottom = f"{text}/{min(bottom, 2**52)}.0", bottom // min(bottom, 2**52)
        return f"({'-' if value < 0 else ''}{text})"

    def read(self, column: Column, raw: str) -> str:
        """A column as number or text; NULL where it is missing or cannot be read."""
        if column.kind == NUMBER:
            number = f"typeof({raw}) IN ('integer', 'real')"
            text = f"(typeof({raw}) = 'text' AND CAST({raw} AS REAL) = {raw})"
            return f"CASE WHEN {number} OR {text} THEN CAST({raw} AS REAL) END"
        if column.kind == DATE:
            return f"CAST(strftime('%s', {raw}) AS REAL)"
        as_text = f"CAST({raw} AS TEXT)"
        return _yes_no(self, as_text) if column.kind == YES_NO else _cleaned(self, column, as_text)

    def floor(self, x: str) -> str:
        """The largest whole number that is not larger; SQLite may come without `floor`."""
        whole = f"CAST(CAST({x} AS INTEGER) AS REAL)"
        return f"({whole} - ({x} < {whole}))"

    def type_of(self, column: Column) -> str:
        """Type of a column in a self-test."""
        return "TEXT" if column.kind in (DATE, TEXT) else "REAL"

    def any_number(self, value: float) -> str:
        """A number that may be infinite or none."""
        if value != value:
            return "NULL"
        return {float("inf"): "9e999", float("-inf"): "-9e999"}.get(value) or self.number(value)


def _signed(shown: str) -> str:
    return f"({shown})" if shown.startswith("-") else shown


def _powers(whole: int) -> str:
    """A whole number of 53 digits times powers of two."""
    power = 0
    while whole >= 2**53:
        whole, power = whole // 2, power + 1
    text = f"{whole}.0"
    while power > 0:
        text, power = f"{text}*{2 ** min(power, 52)}.0", power - 52
    return text


def _yes_no(dialect: Database, as_text: str) -> str:
    return (
        f"CASE WHEN lower({as_text}) IN ('true', '1', '1.0') THEN {dialect.number(1.0)} "
        f"WHEN lower({as_text}) IN ('false', '0', '0.0') THEN {dialect.number(0.0)} END"
    )


def _cleaned(dialect: Database, column: Column, as_text: str) -> str:
    """Text without the texts that stand for a missing one."""
    if not column.nulls:
        return as_text
    nulls = ", ".join(dialect.string(text) for text in column.nulls)
    blank = f"trim({as_text}, {dialect.string(_SPACE)}) = ''"
    return f"CASE WHEN NOT ({as_text} IN ({nulls}) OR {blank}) THEN {as_text} END"


DIALECTS: dict[str, Database] = {dialect.name: dialect for dialect in (DuckDB(), PostgreSQL(), SQLite())}
