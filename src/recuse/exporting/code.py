"""A program as a module of Python or JavaScript that needs nothing else."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, ClassVar

from .program import (
    OUTPUTS,
    Apply,
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
)
from .self_test import TestCase


class CodeWriter(ABC):
    """Writes a program as a module; a subclass knows the language."""

    template: str
    nothing: str
    functions: ClassVar[dict[str, str]]
    names: ClassVar[dict[str, str]]  # of the helpers in the template

    def __init__(self, program: DecisionProgram) -> None:
        self.program = program
        self._tables: list[str] = []

    @abstractmethod
    def value(self, value: Any) -> str:
        """A number, text, list or tuple as a literal that can do no harm wherever it stands."""

    @abstractmethod
    def choice(self, test: str, then: str, other: str) -> str:
        """One of two expressions."""

    @abstractmethod
    def constant(self, name: str, value: str) -> str:
        """A line that defines a name for the whole module."""

    @abstractmethod
    def line(self, name: str, value: str) -> str:
        """A line of the body."""

    @abstractmethod
    def answer(self, outputs: dict[str, str]) -> str:
        """The last line of the body."""

    @abstractmethod
    def mapping(self, keys: Sequence[Any], values: Sequence[float]) -> str:
        """A table from levels to numbers."""

    def module(self, version: str, cases: Sequence[TestCase]) -> str:
        """The text of the module."""
        program = self.program
        lines = [self.line(f"c{i}", f"read[{i}]") for i in range(len(program.columns))]
        lines += [self.line(let.name, self.write(let.value)) for let in program.lets]
        lines.append(self.answer({name: self.write(program.outputs[name]) for name in OUTPUTS}))
        columns = [(c.name, c.kind, c.nulls, c.required, c.limit) for c in program.columns]
        parts = {
            "VERSION": version,
            "NOTES": self.value(program.notes),
            "COLUMNS": self.value(columns),
            "REJECT_LABEL": self.value(program.reject_label),
            "BODY": "\n".join(lines),
            "TABLES": "\n".join(self._tables),
            "SELF_TEST": self.rows([(list(case.values), list(case.expected)) for case in cases]),
        }
        text = files(__package__).joinpath("templates", self.template).read_text(encoding="utf-8")
        # Split at the places first: what is put in may itself look like one.
        pieces = text.split("@")
        return "".join(parts.get(piece, piece) if i % 2 else piece for i, piece in enumerate(pieces))

    def rows(self, rows: Sequence[Any]) -> str:
        """A list, one entry per line."""
        return "[\n" + "".join(f"  {self.value(row)},\n" for row in rows) + "]"

    def table(self, literal: str) -> str:
        """Keep a table outside the function; return its name."""
        name = f"T{len(self._tables)}"
        self._tables.append(self.constant(name, literal))
        return name

    def write(self, expr: Expr) -> str:
        """An expression."""
        return _WRITERS[type(expr)](self, expr)

    def apply(self, expr: Apply) -> str:
        """An operator or a function."""
        args = [self.write(arg) for arg in expr.args]
        if expr.op in self.functions:
            return f"{self.functions[expr.op]}({', '.join(args)})"
        return f"({f' {self.names.get(expr.op, expr.op)} '.join(args)})"

    def steps(self, expr: Steps) -> str:
        """A step function."""
        cuts, values = self.table(self.value(list(expr.cuts))), self.table(self.value(list(expr.values)))
        return f"{self.names['step']}({self.write(expr.x)}, {cuts}, {values}, {self.value(expr.missing)})"

    def grid(self, expr: Grid) -> str:
        """A step function of two numbers."""
        x_cuts, y_cuts = self.table(self.value(list(expr.x_cuts))), self.table(self.value(list(expr.y_cuts)))
        values = self.table(self.value([list(row) for row in expr.values]))
        return f"{self.names['grid']}({self.write(expr.x)}, {x_cuts}, {self.write(expr.y)}, {y_cuts}, {values})"

    def levels(self, expr: Levels) -> str:
        """A value for each level."""
        keys = [level if isinstance(level, str) else float(level) for level in expr.levels]
        table = self.table(self.mapping(keys, expr.values))
        otherwise = f"{self.value(expr.missing)}, {self.value(expr.unknown)}"
        return f"{self.names['level']}({self.write(expr.x)}, {table}, {otherwise})"

    def leading(self, expr: Leading) -> str:
        """The name of the largest amount."""
        names, amounts = self.table(self.value(list(expr.names))), ", ".join(map(self.write, expr.amounts))
        return f"{self.names['leading']}({self.write(expr.largest)}, {names}, [{amounts}])"


class PythonWriter(CodeWriter):
    """Writes a module of Python."""

    template, nothing = "python.txt", "None"
    functions: ClassVar[dict[str, str]] = {
        "abs": "abs", "min": "min", "max": "max", "exp": "math.exp", "log": "math.log", "sqrt": "math.sqrt",
        "floor": "_floor",
    }  # fmt: skip
    names: ClassVar[dict[str, str]] = {"step": "_step", "grid": "_grid", "level": "_level", "leading": "_leading"}

    def value(self, value: Any) -> str:
        """A literal in ASCII; infinities and NaN by the names that the module gives them."""
        return ascii(value)

    def choice(self, test: str, then: str, other: str) -> str:
        """One of two expressions."""
        return f"({then} if {test} else {other})"

    def constant(self, name: str, value: str) -> str:
        """A line that defines a name for the whole module."""
        return f"{name} = {value}"

    def line(self, name: str, value: str) -> str:
        """A line of the body."""
        return f"    {name} = {value}"

    def answer(self, outputs: dict[str, str]) -> str:
        """The last line of the body."""
        return f"    return {', '.join(outputs.values())}"

    def mapping(self, keys: Sequence[Any], values: Sequence[float]) -> str:
        """A table from levels to numbers."""
        return ascii(dict(zip(keys, values, strict=True)))


class JavaScriptWriter(CodeWriter):
    """Writes an ES module of JavaScript."""

    template, nothing = "javascript.txt", "null"
    functions: ClassVar[dict[str, str]] = {
        name: f"Math.{name}" for name in ("abs", "min", "max", "exp", "log", "sqrt", "floor")
    }
    names: ClassVar[dict[str, str]] = {
        "or": "||",
        "step": "step",
        "grid": "grid",
        "level": "level",
        "leading": "leading",
    }

    def value(self, value: Any) -> str:
        """A literal in ASCII that ends no script element of a page."""
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return json.dumps(value).replace("<", "\\u003c")

    def choice(self, test: str, then: str, other: str) -> str:
        """One of two expressions."""
        return f"({test} ? {then} : {other})"

    def constant(self, name: str, value: str) -> str:
        """A line that defines a name for the whole module."""
        return f"const {name} = {value};"

    def line(self, name: str, value: str) -> str:
        """A line of the body."""
        return f"  const {name} = {value};"

    def answer(self, outputs: dict[str, str]) -> str:
        """The last line of the body."""
        return f"  return {{ {', '.join(f'{name}: {value}' for name, value in outputs.items())} }};"

    def mapping(self, keys: Sequence[Any], values: Sequence[float]) -> str:
        """A table from levels to numbers."""
        return f"new Map({self.value(list(zip(keys, values, strict=True)))})"


def _is_missing(writer: CodeWriter, expr: Missing) -> str:
    return f"({writer.write(expr.x)} {'is' if writer.nothing == 'None' else '==='} {writer.nothing})"


_WRITERS: dict[type, Callable[[Any, Any], str]] = {
    Number: lambda w, e: f"({w.value(e.value)})" if e.value < 0 else w.value(e.value),
    Text: lambda w, e: w.value(e.value),
    Nothing: lambda w, e: w.nothing,
    Label: lambda w, e: w.value(e.value),
    Ref: lambda w, e: e.name,
    Apply: CodeWriter.apply,
    If: lambda w, e: w.choice(w.write(e.test), w.write(e.then), w.write(e.other)),
    Missing: _is_missing,
    Steps: CodeWriter.steps,
    Grid: CodeWriter.grid,
    Levels: CodeWriter.levels,
    Leading: CodeWriter.leading,
}
