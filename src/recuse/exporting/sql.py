"""A program as one SELECT, for DuckDB, PostgreSQL and SQLite.

Values are computed in groups, each a common table expression over the one before it. Step functions are nested CASE
expressions that halve the cuts. PostgreSQL and SQLite would copy an expression to each place where its name is used,
and grow without end over several groups: there each group is kept apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .dialects import Database
from .program import (
    NUMBER,
    OUTPUTS,
    REFUSED,
    Apply,
    Column,
    DecisionProgram,
    Expr,
    Grid,
    If,
    Label,
    Leading,
    Levels,
    Missing,
    Nothing,
    Number,
    Ref,
    Steps,
    Text,
    labels_of,
    refs,
    refusal,
)
from .self_test import TestCase

_EXPECTED = ("expected_answer", "expected_kind", "expected_h", "expected_r")
_WIDEST = 50  # arguments of a function
_FUNCTIONS = {"log": "ln"}


class SQLWriter:
    """Writes a program for one database.

    Parameters
    ----------
    program : DecisionProgram
        What is written.
    dialect : Database
        For which database.
    """

    def __init__(self, program: DecisionProgram, dialect: Database) -> None:
        self.program, self.dialect = program, dialect
        labels = [program.reject_label, *labels_of(program)]
        # A column of a database has one type: labels of several become text.
        self._labels_are_text = len({isinstance(label, str) for label in labels}) > 1

    def select(self, table: str, keys: Sequence[str]) -> str:
        """The whole query over a table, given as SQL; the key columns come first."""
        groups = self._groups(table, keys)
        names = ", ".join(
            [f"k{i} AS {self.dialect.identifier(key)}" for i, key in enumerate(keys)]
            + [f"{self._output(name)} AS {self.dialect.identifier(name)}" for name in OUTPUTS]
        )
        before, behind = self.dialect.keep_apart
        ctes = ",\n".join(f"recuse_{i} AS {before}(\n  {text}{behind}\n)" for i, text in enumerate(groups))
        return f"WITH {ctes}\nSELECT {names}\nFROM recuse_{len(groups) - 1}"

    def test(self, cases: Sequence[TestCase]) -> str:
        """A query over the cases of the self-test that returns those which come out in another way."""
        d, columns = self.dialect, self.program.columns
        names = ["case_number", *(column.name for column in columns), *_EXPECTED]
        rows = ",\n    ".join(
            f"({', '.join([str(i), *map(d.test_value, columns, case.values), *self._expected(case)])})"
            for i, case in enumerate(cases, start=1)
        )
        inner = self.select("recuse_cases", ["case_number", *_EXPECTED]).removeprefix("WITH ")
        columns_of_test = ", ".join(d.identifier(name) for name in names)
        zero = d.number(1e-9)

        def differs(score: str) -> str:
            said = f"expected_{score}"
            near = f"abs({score} - {said}) <= {zero} * {d.greatest}({d.number(1.0)}, abs({said}))"
            return f"NOT coalesce({near}, {score} IS NULL AND {said} IS NULL)"

        return (
            f"WITH recuse_cases ({columns_of_test}) AS (\n  VALUES {rows}\n),\n"
            f"recuse_answers AS (\n{'WITH ' + inner}\n)\nSELECT * FROM recuse_answers\n"
            f"WHERE answer <> expected_answer OR kind <> expected_kind OR {differs('h')} OR {differs('r')}"
        )

    def _expected(self, case: TestCase) -> list[str]:
        answer, kind, h, r = case.expected
        d = self.dialect
        scores = [f"CAST(NULL AS {d.double})" if score is None else d.any_number(score) for score in (h, r)]
        return [self._label(answer), d.string(kind), *scores]

    def _groups(self, table: str, keys: Sequence[str]) -> list[str]:
        """The SELECT of each group: what is read, what is refused, and then the values."""
        columns, d = self.program.columns, self.dialect
        key_names = [f"k{i}" for i in range(len(keys))]
        read = [f"t.{d.identifier(key)} AS k{i}" for i, key in enumerate(keys)]
        for i, column in enumerate(columns):
            raw = f"t.{d.identifier(column.name)}"
            value = d.read(column, raw)
            read.append(f"{value} AS c{i}")
            if d.is_checked(column):
                read.append(f"{d.unread(column, raw, value)} AS b{i}")
        checked = [*key_names, *(self._limited(i, column) for i, column in enumerate(columns)), self._refused()]
        groups = [f"SELECT {', '.join(read)} FROM {table} AS t", f"SELECT {', '.join(checked)} FROM recuse_0"]
        stages = self.program.stages()
        for number, stage in enumerate(stages):
            known = [f"c{i}" for i in range(len(columns))] + [let.name for s in stages[:number] for let in s]
            wanted = self._wanted_after(stages, number)
            still = [name for name in known if name in wanted]
            made = [f"{self.write(let.value)} AS {let.name}" for let in stage]
            groups.append(f"SELECT {', '.join([*key_names, REFUSED, *still, *made])} FROM recuse_{number + 1}")
        return groups

    def _wanted_after(self, stages: list[Any], number: int) -> set[str]:
        """Names that groups behind this one, or the outputs, use."""
        later = [let.value for stage in stages[number + 1 :] for let in stage] + list(self.program.outputs.values())
        return {name for expr in later for name in refs(expr)}

    def _limited(self, i: int, column: Column) -> str:
        if column.kind != NUMBER:
            return f"c{i}"
        return f"CASE WHEN abs(c{i}) < {self._limit(column)} THEN c{i} END AS c{i}"

    def _limit(self, column: Column) -> str:
        return self.dialect.any_number(column.limit)

    def _refused(self) -> str:
        """The sentence about the first column that the model would refuse."""
        tests = []
        for i, column in enumerate(self.program.columns):
            wrong = [f"b{i}"] if self.dialect.is_checked(column) else []
            if column.kind == NUMBER:
                # A number that is none (NaN) is above infinity here: it is missing, and not refused.
                wrong.append(f"abs(c{i}) BETWEEN {self._limit(column)} AND {self.dialect.any_number(float('inf'))}")
            if column.required:
                known = f"abs(c{i}) < {self._limit(column)}" if column.kind == NUMBER else f"c{i} IS NOT NULL"
                wrong.append(f"NOT coalesce({known}, FALSE)")
            if wrong:
                tests.append(f"WHEN {' OR '.join(wrong)} THEN {self.dialect.string(refusal(column))}")
        none = f"CAST(NULL AS {self.dialect.text})"
        return f"{'CASE ' + ' '.join(tests) + ' END' if tests else none} AS {REFUSED}"

    def _output(self, name: str) -> str:
        """An output, or what a refused case has in its place."""
        written = self.write(self.program.outputs[name])
        refused = {
            "answer": self._label(self.program.reject_label),
            "forced": "NULL",
            "accepted": self._true(False),
            "kind": self.dialect.string(REFUSED),
            "h": "NULL",
            "r": "NULL",
            "reason": REFUSED,
        }[name]
        return f"CASE WHEN {REFUSED} IS NULL THEN {written} ELSE {refused} END"

    def _true(self, value: bool) -> str:
        if self.dialect.name == "sqlite":
            return str(int(value))
        return "TRUE" if value else "FALSE"

    def _label(self, label: Any) -> str:
        if isinstance(label, str) or self._labels_are_text:
            return self.dialect.string(str(label))
        return repr(int(label)) if isinstance(label, int) else self.dialect.number(label)

    def write(self, expr: Expr) -> str:
        """An expression."""
        return _WRITERS[type(expr)](self, expr)

    def apply(self, expr: Apply) -> str:
        """An operator or a function."""
        args = [self.write(arg) for arg in expr.args]
        if expr.op == "floor":
            return self.dialect.floor(args[0])
        if expr.op in ("min", "max"):
            return self._extreme(self.dialect.greatest if expr.op == "max" else self.dialect.least, args)
        if expr.op.isalpha() and expr.op != "or":
            return f"{_FUNCTIONS.get(expr.op, expr.op)}({', '.join(args)})"
        return f"({f' {expr.op} '.join(args)})"

    def _extreme(self, function: str, args: list[str]) -> str:
        """Databases limit the number of arguments of a function."""
        while len(args) > _WIDEST:
            args = [self._extreme(function, args[:_WIDEST]), *args[_WIDEST:]]
        return f"{function}({', '.join(args)})" if len(args) > 1 else args[0]

    def steps(self, expr: Steps) -> str:
        """A step function."""
        x, values = self.write(expr.x), [self.dialect.number(value) for value in expr.values]
        known = self._halved(x, expr.cuts, values)
        return f"CASE WHEN {x} IS NULL THEN {self.dialect.number(expr.missing)} ELSE {known} END"

    def grid(self, expr: Grid) -> str:
        """A step function of two numbers."""
        rows = [self.steps(Steps(expr.y, expr.y_cuts, row[:-1], row[-1])) for row in expr.values]
        x = self.write(expr.x)
        return f"CASE WHEN {x} IS NULL THEN {rows[-1]} ELSE {self._halved(x, expr.x_cuts, rows[:-1])} END"

    def _halved(self, x: str, cuts: Sequence[float], values: Sequence[str]) -> str:
        """The value of the cell of a number; as many comparisons as it takes to halve the cuts."""
        if len(set(values)) == 1:
            return values[0]
        middle = (len(cuts) - 1) // 2
        low = self._halved(x, cuts[:middle], values[: middle + 1])
        high = self._halved(x, cuts[middle + 1 :], values[middle + 1 :])
        return f"CASE WHEN {x} <= {self.dialect.number(cuts[middle])} THEN {low} ELSE {high} END"

    def levels(self, expr: Levels) -> str:
        """A value for each level; levels of one value share a test."""
        x, number = self.write(expr.x), self.dialect.number
        by_value: dict[float, list[str]] = {}
        for level, value in zip(expr.levels, expr.values, strict=True):
            by_value.setdefault(value, []).append(
                self.dialect.string(level) if isinstance(level, str) else number(float(level))
            )
        tests = [f"WHEN {x} IN ({', '.join(same)}) THEN {number(value)}" for value, same in by_value.items()]
        return f"CASE WHEN {x} IS NULL THEN {number(expr.missing)} {' '.join(tests)} ELSE {number(expr.unknown)} END"

    def leading(self, expr: Leading) -> str:
        """The name of the largest amount."""
        largest = self.write(expr.largest)
        tests = [
            f"WHEN {self.write(amount)} = {largest} THEN {self.dialect.string(name)}"
            for name, amount in zip(expr.names, expr.amounts, strict=True)
        ]
        return f"CASE WHEN {largest} <= {self.dialect.number(0.0)} THEN '' {' '.join(tests)} ELSE '' END"


_WRITERS: dict[type, Callable[[SQLWriter, Any], str]] = {
    Number: lambda w, e: w.dialect.number(e.value),
    Text: lambda w, e: w.dialect.string(e.value),
    Nothing: lambda w, e: "NULL",
    Label: lambda w, e: w._label(e.value),
    Ref: lambda w, e: str(e.name),
    Apply: SQLWriter.apply,
    If: lambda w, e: f"CASE WHEN {w.write(e.test)} THEN {w.write(e.then)} ELSE {w.write(e.other)} END",
    Missing: lambda w, e: f"{w.write(e.x)} IS NULL",
    Steps: SQLWriter.steps,
    Grid: SQLWriter.grid,
    Levels: SQLWriter.levels,
    Leading: SQLWriter.leading,
}
