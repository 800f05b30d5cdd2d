"""DecisionProgram: a whole decision as plain arithmetic, from which each language is written.

A program reads columns, refuses cases that the model would refuse, and computes named values one after another, each an
expression of those before it. There are few kinds of expressions, and every target writes each of them in its own way:

    Number, Text, Label, Nothing, Ref, Apply (an operator or a function), If, Missing, Steps, Grid, Levels, Leading.

A missing number or text is missing in every target (NULL, None, null). Only `Missing`, `Steps`, `Grid` and `Levels`
take one; all other expressions are built so that they never meet it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

NUMBER, YES_NO, DATE, TEXT = "number", "yes/no", "date", "text"


class Expr:
    """An expression; operators build further ones."""

    def __add__(self, other: Expr | float) -> Expr:
        return Apply("+", (self, as_expr(other)))

    def __radd__(self, other: float) -> Expr:
        return Apply("+", (as_expr(other), self))

    def __sub__(self, other: Expr | float) -> Expr:
        return Apply("-", (self, as_expr(other)))

    def __rsub__(self, other: float) -> Expr:
        return Apply("-", (as_expr(other), self))

    def __mul__(self, other: Expr | float) -> Expr:
        return Apply("*", (self, as_expr(other)))

    def __rmul__(self, other: float) -> Expr:
        return Apply("*", (as_expr(other), self))

    def __truediv__(self, other: Expr | float) -> Expr:
        return Apply("/", (self, as_expr(other)))

    def __rtruediv__(self, other: float) -> Expr:
        return Apply("/", (as_expr(other), self))

    def __neg__(self) -> Expr:
        return Apply("-", (Number(0.0), self))

    def __gt__(self, other: Expr | float) -> Expr:
        return Apply(">", (self, as_expr(other)))

    def __ge__(self, other: Expr | float) -> Expr:
        return Apply(">=", (self, as_expr(other)))

    def __lt__(self, other: Expr | float) -> Expr:
        return Apply("<", (self, as_expr(other)))

    def __le__(self, other: Expr | float) -> Expr:
        return Apply("<=", (self, as_expr(other)))

    def __or__(self, other: Expr) -> Expr:
        return Apply("or", (self, other))

    def parts(self) -> tuple[Expr, ...]:
        """The expressions that this one is made of."""
        return ()


@dataclass(frozen=True, eq=False)
class Number(Expr):
    """A number; finite."""

    value: float


@dataclass(frozen=True, eq=False)
class Nothing(Expr):
    """A missing number or text."""


@dataclass(frozen=True, eq=False)
class Text(Expr):
    """A text."""

    value: str


@dataclass(frozen=True, eq=False)
class Label(Expr):
    """An answer: a class or the reject label."""

    value: Any


@dataclass(frozen=True, eq=False)
class Ref(Expr):
    """A column as it was read, or a value by its name."""

    name: str


@dataclass(frozen=True, eq=False)
class Apply(Expr):
    """An operator or a function: + - * / > >= < <= or, abs, exp, log, sqrt, floor, min, max."""

    op: str
    args: tuple[Expr, ...]

    def parts(self) -> tuple[Expr, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, eq=False)
class If(Expr):
    """One of two expressions."""

    test: Expr
    then: Expr
    other: Expr

    def parts(self) -> tuple[Expr, ...]:
        """The test and both sides."""
        return self.test, self.then, self.other


@dataclass(frozen=True, eq=False)
class Missing(Expr):
    """Whether a value is missing."""

    x: Ref

    def parts(self) -> tuple[Expr, ...]:
        """The value."""
        return (self.x,)


@dataclass(frozen=True, eq=False)
class Steps(Expr):
    """A step function: value j for numbers above cut j - 1 and not above cut j; `missing` where there is none."""

    x: Ref
    cuts: tuple[float, ...]
    values: tuple[float, ...]
    missing: float

    def parts(self) -> tuple[Expr, ...]:
        """The number."""
        return (self.x,)


@dataclass(frozen=True, eq=False)
class Grid(Expr):
    """A step function of two numbers; the last row and the last column of `values` are for missing ones."""

    x: Ref
    x_cuts: tuple[float, ...]
    y: Ref
    y_cuts: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def parts(self) -> tuple[Expr, ...]:
        """The two numbers."""
        return self.x, self.y


@dataclass(frozen=True, eq=False)
class Levels(Expr):
    """A value for each level of a column; `unknown` for others, `missing` where there is none."""

    x: Ref
    levels: tuple[Any, ...]
    values: tuple[float, ...]
    missing: float
    unknown: float

    def parts(self) -> tuple[Expr, ...]:
        """The column."""
        return (self.x,)


@dataclass(frozen=True, eq=False)
class Leading(Expr):
    """The name of the largest amount, the first of equal ones; nothing where none is above 0.

    Attributes
    ----------
    largest : Ref
        The largest of the amounts.
    names, amounts
        As many of either.
    """

    largest: Ref
    names: tuple[str, ...]
    amounts: tuple[Expr, ...]

    def parts(self) -> tuple[Expr, ...]:
        """The amounts."""
        return (self.largest, *self.amounts)


def as_expr(value: Expr | float) -> Expr:
    """A number as an expression."""
    return value if isinstance(value, Expr) else Number(float(value))


def call(name: str, *args: Expr | float) -> Expr:
    """A function of some expressions."""
    return Apply(name, tuple(as_expr(arg) for arg in args))


def refs(expr: Expr) -> Iterator[str]:
    """Names that an expression uses."""
    if isinstance(expr, Ref):
        yield expr.name
    for part in expr.parts():
        yield from refs(part)


@dataclass(frozen=True)
class Column:
    """A column of the table that the program reads.

    Attributes
    ----------
    name : str
        In the table.
    kind : str
        "number", "yes/no" (read as 1 and 0), "date" (read as seconds since 1970) or "text".
    nulls : tuple of str
        Texts that stand for a missing one, as blank ones then do.
    required : bool
        Whether a case without it is refused.
    limit : float
        Numbers must be smaller than this; infinity allows all finite ones.
    levels : tuple
        The categories that it may hold, where it holds such.
    """

    name: str
    kind: str
    nulls: tuple[str, ...] = ()
    required: bool = False
    limit: float = float("inf")
    levels: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Let:
    """A named value."""

    name: str
    value: Expr


# What a program answers, in this order.
OUTPUTS = ("answer", "forced", "accepted", "kind", "h", "r", "reason")
REFUSED = "refused"


@dataclass
class DecisionProgram:
    """Columns, values one after another, and which of them are the outputs.

    Attributes
    ----------
    columns : list of Column
        Column i is read as ``c{i}``; ``b{i}`` says that what it holds cannot be read.
    lets : list of Let
        In an order in which each uses earlier ones only.
    outputs : dict of str to Expr
        The expression of each of `OUTPUTS`, but those that a refused case has as constants.
    reject_label : object
        The answer to rejected and to refused cases.
    notes : list of str
        What whoever runs the program should know.
    level_codes : dict of int to tuple
        Levels of the columns that a boosted model takes as categories, in the order of their numbers.
    """

    columns: list[Column] = field(default_factory=list)
    lets: list[Let] = field(default_factory=list)
    outputs: dict[str, Expr] = field(default_factory=dict)
    reject_label: Any = None
    notes: list[str] = field(default_factory=list)
    level_codes: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def column(self, i: int) -> Ref:
        """Column i as it is read."""
        return Ref(f"c{i}")

    def let(self, value: Expr, prefix: str = "v") -> Ref:
        """Name a value, unless it has a name; return the reference to it."""
        if isinstance(value, Ref):
            return value
        name = f"{prefix}{len(self.lets)}"
        self.lets.append(Let(name, value))
        return Ref(name)

    def add_up(self, start: float, terms: Sequence[Expr]) -> Ref:
        """The sum of a number and some terms, one after the other, as the model adds them."""
        total: Expr = Number(start)
        for term in terms:
            total = total + term
        return self.let(total)

    def stages(self) -> list[list[Let]]:
        """The values in groups: each uses values of earlier groups only."""
        depth: dict[str, int] = {}
        found: list[list[Let]] = []
        for let in self.lets:
            depth[let.name] = max((depth[name] + 1 for name in refs(let.value) if name in depth), default=0)
            if depth[let.name] == len(found):
                found.append([])
            found[depth[let.name]].append(let)
        return found


def labels_of(program: DecisionProgram) -> list[Any]:
    """The classes that a program may answer."""
    found: list[Any] = []
    waiting = [program.outputs["answer"]]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, Label):
            found.append(expr.value)
        waiting += expr.parts()
    return found


def refusal(column: Column) -> str:
    """What a refused case says about a column."""
    return f"{column.name} cannot be read or is missing"
