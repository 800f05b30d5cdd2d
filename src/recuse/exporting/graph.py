"""A program as an ONNX graph of standard operators, all in double precision.

Every column is an input of its own, a vector with a number or a text per case; a missing number is NaN, a missing text
is empty. Step functions look up the cell of a number by halving the cuts, then its value in a table; trees of ONNX,
which mostly compare in single precision, are not used. Both sides of a choice are computed, so that a refused case may
hold any number on the way: its outputs are set at the end.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..extras import require
from .features import CannotExportError
from .program import (
    DATE,
    NUMBER,
    OUTPUTS,
    REFUSED,
    TEXT,
    YES_NO,
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
    refusal,
)
from .self_test import TestCase

OPSET, OPSET_ML, IR_VERSION = 20, 3, 9  # what onnxruntime 1.17 reads
PRECISION = (
    "All numbers are double precision (float64), inputs too: nothing differs by single precision (float32). A column "
    "that was rounded to float32 before may lie on another side of a cut, or of a threshold, than the number it was."
)
_PREFIX = "recuse/"  # of every name inside the graph
_BLANK = r"[ \t\n\r\f\v]*"
_OPERATORS = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", ">": "Greater", ">=": "GreaterOrEqual", "<": "Less",
    "<=": "LessOrEqual", "or": "Or", "abs": "Abs", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "floor": "Floor",
    "min": "Min", "max": "Max",
}  # fmt: skip


class GraphWriter:
    """Writes a program as an ONNX model.

    Parameters
    ----------
    program : DecisionProgram
        What is written.
    """

    def __init__(self, program: DecisionProgram) -> None:
        self.onnx = require("onnx", "Exporting to ONNX")
        self.program = program
        self._nodes: list[Any] = []
        self._tables: list[Any] = []
        self._made: dict[Any, str] = {}  # what was written before, so that h and r share their cells
        labels = [program.reject_label, *labels_of(program)]
        self._label_type = _type_of_labels(labels)
        _refuse_names(program.columns)

    def model(self, version: str, cases: Sequence[TestCase], notes: Sequence[str]) -> bytes:
        """The file."""
        helper = self.onnx.helper
        inputs = [self._described(column.name, _type_of(column)) for column in self.program.columns]
        refused = self._read()
        for let in self.program.lets:
            self._made[let.name] = self.write(let.value)
        self._answer(refused)
        types = {"answer": self._label_type, "forced": self._label_type, "accepted": bool, "h": float, "r": float}
        outputs = [self._described(name, types.get(name, str)) for name in OUTPUTS]
        graph = helper.make_graph(self._nodes, "decision", inputs, outputs, self._tables)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="recuse", producer_version=version
        )
        helper.set_model_props(model, self._properties(cases, notes))
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _described(self, name: str, kind: type) -> Any:
        numbers = self.onnx.TensorProto
        types = {float: numbers.DOUBLE, str: numbers.STRING, bool: numbers.BOOL, int: numbers.INT64}
        return self.onnx.helper.make_tensor_value_info(name, types[kind], ["cases"])

    def _properties(self, cases: Sequence[TestCase], notes: Sequence[str]) -> dict[str, str]:
        """What the file says of itself; the self-test as JSON, where infinities are texts."""
        columns = self.program.columns
        rows = [[*map(_as_input, columns, case.values), *self._expected(case)] for case in cases]
        return {
            "columns": json.dumps([[column.name, column.kind] for column in columns]),
            "precision": PRECISION,
            "notes": json.dumps(list(notes)),
            "self_test": json.dumps(rows, allow_nan=False),
        }

    def _expected(self, case: TestCase) -> list[Any]:
        answer, *others = case.expected
        return [self._label_type(answer), *others]

    def _read(self) -> str:
        """Read the columns; return the number of the first that the model would refuse, or else how many there are."""
        columns = self.program.columns
        first = self.node("Expand", self.table(np.int64(len(columns))), self.node("Shape", columns[0].name))
        for i, column in reversed(list(enumerate(columns))):
            value = self.node("Identity", column.name)
            self._made[f"c{i}"] = value
            wrong = self._text(i, column, value) if column.kind == TEXT else self._number(i, column, value)
            if wrong:
                first = self.node("Where", self._any(wrong), self.table(np.int64(i)), first)
        return first

    def _text(self, i: int, column: Column, value: str) -> list[str]:
        """Note where a text is missing; return what the model refuses of it."""
        if column.nulls:
            pattern = "|".join([_BLANK, *map(re.escape, column.nulls)])
            missing = self.node("RegexFullMatch", value, pattern=pattern)
        else:
            missing = self.node("Equal", value, self.table(""))
        self._made["missing", f"c{i}"] = missing
        return [missing] if column.required else []

    def _number(self, i: int, column: Column, value: str) -> list[str]:
        """What the model refuses of a number, of yes and no, or of a date."""
        missing = self._missing(f"c{i}")
        wrong = [missing] if column.required else []
        if column.kind == YES_NO:
            known = [self.node("Equal", value, self.table(float(x))) for x in (0.0, 1.0)]
            return [*wrong, self.node("Not", self._any([missing, *known]))]
        limit = column.limit if column.kind == NUMBER else math.inf
        return [*wrong, self.node("GreaterOrEqual", self.node("Abs", value), self.table(limit))]

    def _any(self, tests: list[str]) -> str:
        found, *others = tests
        for test in others:
            found = self.node("Or", found, test)
        return found

    def _missing(self, name: str) -> str:
        """Whether a named value is missing."""
        return self._once(("missing", name), lambda: self.node("IsNaN", self._made[name]))

    def _answer(self, refused: str) -> None:
        """The outputs, and what a refused case has in their place."""
        n = len(self.program.columns)
        wrong = self.node("Less", refused, self.table(np.int64(n)))
        written = {name: self.write(self.program.outputs[name]) for name in OUTPUTS}
        reject = self.table(self._label_type(self.program.reject_label))
        why = self.table([*map(refusal, self.program.columns), ""])
        otherwise = {
            "answer": reject,
            "forced": reject,
            "kind": self.table(REFUSED),
            "h": self.table(math.nan),
            "r": self.table(math.nan),
            "reason": self.node("Gather", why, refused),
        }
        for name, value in otherwise.items():
            self.node("Where", wrong, value, written[name], output=name)
        self.node("And", self.node("Not", wrong), written["accepted"], output="accepted")

    def node(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operator; return the name of what it computes."""
        name = output or f"{_PREFIX}{len(self._nodes)}"
        domain = "ai.onnx.ml" if op == "LabelEncoder" else ""
        self._nodes.append(self.onnx.helper.make_node(op, inputs, [name], domain=domain, **attributes))
        return name

    def table(self, values: Any) -> str:
        """Keep a number, a text, or several; return the name. Equal ones are kept once."""
        array = np.asarray(values)
        if array.dtype.kind == "U":
            array = np.asarray(values, dtype=object)
        key = ("table", array.dtype.str, array.shape, *map(repr, array.ravel().tolist()))
        return self._once(key, lambda: self._keep(array))

    def _keep(self, array: Any) -> str:
        name = f"{_PREFIX}table{len(self._tables)}"
        self._tables.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def _once(self, key: Any, made: Callable[[], str]) -> str:
        if key not in self._made:
            self._made[key] = made()
        return self._made[key]

    def write(self, expr: Expr) -> str:
        """Add an expression; return the name of its value."""
        return _WRITERS[type(expr)](self, expr)

    def apply(self, expr: Apply) -> str:
        """An operator or a function."""
        return self.node(_OPERATORS[expr.op], *map(self._argument, expr.args))

    def _argument(self, expr: Expr) -> str:
        """An argument; a number that is 0 or 1 in single precision only is looked up while the model runs.

        onnxruntime compares constants with 0 and 1 in single precision, and leaves out sums and products with them.
        """
        if isinstance(expr, Number) and expr.value not in (0.0, 1.0) and _in_single(expr.value) in (0.0, 1.0):
            return self.node("Gather", self.table([expr.value]), self._once("zero", self._zero))
        return self.write(expr)

    def _zero(self) -> str:
        """The number 0, which is known only when the model runs: no constant."""
        shape = self.node("Shape", self.program.columns[0].name)
        return self.node("Sub", shape, shape)

    def cell(self, x: Ref, cuts: tuple[float, ...]) -> str:
        """How many cuts lie below a number; one more than there are cuts where it is missing."""
        return self._once(("cell", x.name, cuts), lambda: self._halved(x, cuts))

    def _halved(self, x: Ref, cuts: tuple[float, ...]) -> str:
        rounds = len(cuts).bit_length()
        # Cuts that no number is above fill the table up to the size at which halving comes out even.
        table = self.table(np.array([*cuts, *[math.inf] * (2**rounds - 1 - len(cuts))]))
        below = self.table(np.int64(0))
        for size in (2**i for i in reversed(range(rounds))):
            cut = self.node("Gather", table, self.node("Add", below, self.table(np.int64(size - 1))))
            further = self.node("Add", below, self.table(np.int64(size)))
            below = self.node("Where", self.node("Less", cut, self.write(x)), further, below)
        return self.node("Where", self._missing(x.name), self.table(np.int64(len(cuts) + 1)), below)

    def steps(self, expr: Steps) -> str:
        """A step function."""
        return self.node("Gather", self.table([*expr.values, expr.missing]), self.cell(expr.x, expr.cuts))

    def grid(self, expr: Grid) -> str:
        """A step function of two numbers."""
        values = np.array(expr.values, dtype=np.float64)
        row = self.node("Mul", self.cell(expr.x, expr.x_cuts), self.table(np.int64(values.shape[1])))
        return self.node("Gather", self.table(values.ravel()), self.node("Add", row, self.cell(expr.y, expr.y_cuts)))

    def levels(self, expr: Levels) -> str:
        """A value for each level."""
        place = self._once(("level", expr.x.name, expr.levels), lambda: self._place(expr))
        return self.node("Gather", self.table([*map(float, expr.values), expr.unknown, expr.missing]), place)

    def _place(self, expr: Levels) -> str:
        """The number of the level that a case has; then come those of an unknown and of a missing one."""
        n, x = len(expr.levels), self.write(expr.x)
        if all(isinstance(level, str) for level in expr.levels):
            _refuse_empty(self.program, expr)
            found = self.node(
                "LabelEncoder", x, keys_strings=list(expr.levels), values_int64s=list(range(n)), default_int64=n
            )
        else:
            found = self.table(np.int64(n))
            for j, level in enumerate(expr.levels):
                same = self.node("Equal", x, self.table(float(level)))
                found = self.node("Where", same, self.table(np.int64(j)), found)
        return self.node("Where", self._missing(expr.x.name), self.table(np.int64(n + 1)), found)

    def leading(self, expr: Leading) -> str:
        """The name of the largest amount."""
        n, largest = len(expr.names), self.write(expr.largest)
        found = none = self.table(np.int64(n))
        for j, amount in reversed(list(enumerate(expr.amounts))):
            found = self.node("Where", self.node("Equal", self.write(amount), largest), self.table(np.int64(j)), found)
        some = self.node("Greater", largest, self.table(0.0))
        return self.node("Gather", self.table([*expr.names, ""]), self.node("Where", some, found, none))


def _type_of(column: Column) -> type:
    return str if column.kind == TEXT else float


def _type_of_labels(labels: Sequence[Any]) -> type:
    """An output has one type: labels of several become text."""
    if any(isinstance(label, str) for label in labels):
        return str
    return int if all(isinstance(label, int) for label in labels) else float


def _in_single(value: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(value))


def _as_input(column: Column, value: Any) -> Any:
    """A value of the self-test as the graph takes it, but None for a missing number and texts for infinite ones."""
    if column.kind == TEXT:
        return value or ""
    if column.kind == DATE and value is not None:
        return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
    return value if value is None or math.isfinite(value) else str(value)


def _refuse_names(columns: Sequence[Column]) -> None:
    for column in columns:
        if column.name in ("", *OUTPUTS) or column.name.startswith(_PREFIX):
            raise CannotExportError(
                f"The column {column.name!r} has a name that ONNX needs for something else: give it another before the "
                "fit, or export to='sql', 'python' or 'javascript'."
            )


def _refuse_empty(program: DecisionProgram, expr: Levels) -> None:
    if "" in expr.levels:
        name = program.columns[int(expr.x.name.removeprefix("c"))].name
        raise CannotExportError(
            f"The column {name!r} has the empty text as a category, which stands for a missing one in ONNX: name the "
            "category before the fit, or export to='sql', 'python' or 'javascript'."
        )


_WRITERS: dict[type, Callable[[GraphWriter, Any], str]] = {
    Number: lambda w, e: w.table(float(e.value)),
    Text: lambda w, e: w.table(e.value),
    Nothing: lambda w, e: w.table(math.nan),
    Label: lambda w, e: w.table(w._label_type(e.value)),
    Ref: lambda w, e: w._made[e.name],
    Apply: GraphWriter.apply,
    If: lambda w, e: w.node("Where", w.write(e.test), w.write(e.then), w.write(e.other)),
    Missing: lambda w, e: w._missing(e.x.name),
    Steps: GraphWriter.steps,
    Grid: GraphWriter.grid,
    Levels: GraphWriter.levels,
    Leading: GraphWriter.leading,
}
