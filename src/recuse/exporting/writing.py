"""`export`: the whole decision of a fitted model, written for another language or runtime, with a test of itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import __version__
from ..parameters import check_choice
from ..persistence import load, open_whole
from .code import JavaScriptWriter, PythonWriter
from .dialects import DIALECTS
from .graph import PRECISION, GraphWriter
from .models import as_program
from .program import OUTPUTS, DecisionProgram
from .self_test import TestCase, draw_cases
from .sql import SQLWriter

_TABLE = "cases"


_UNTESTED = (
    "onnxruntime is not installed, so that the ONNX model was not run on its self-test (the same decision as a module "
    "of Python was): run the self-test where it is."
)


@dataclass(frozen=True)
class Exported:
    """A model for another language or runtime.

    Attributes
    ----------
    text : str
        The query or the module; empty for ONNX, whose file is no text.
    self_test : str or None
        For SQL: a query that needs no table, and returns the cases of the self-test that the database answers in
        another way than the model; none, if all agree. For ONNX: a script that runs the self-test in the file. Modules
        have their self-test inside.
    notes : tuple of str
        What whoever runs it should know.
    binary : bytes or None
        The file of ONNX; None for a text.
    """

    text: str
    self_test: str | None = None
    notes: tuple[str, ...] = ()
    binary: bytes | None = None

    def __str__(self) -> str:
        return self.text

    def write(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the model to a file, and the self-test of SQL or ONNX beside it; return the paths."""
        target = Path(path)
        contents = {target: self.text.encode() if self.binary is None else self.binary}
        if self.self_test is not None:
            suffix = (target.suffix or ".sql") if self.binary is None else ".py"
            contents[target.with_name(f"{target.stem}.self_test{suffix}")] = self.self_test.encode()
        for place, content in contents.items():
            with open_whole(place) as file:
                file.write(content)
        return list(contents)


def export(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    to: str = "sql",
    dialect: str = "duckdb",
    table: str = _TABLE,
    key: str | Sequence[str] = (),
    reasons: bool = True,
) -> Exported:
    """Write the whole decision of a fitted model as SQL, as an ONNX model, or as a module of Python or JavaScript.

    What comes out answers as `recuse.decide` does: answer, forced class, kind, h, r and the leading reason, for missing
    values, categories that training did not have and numbers exactly on a cut as well. A case that the model would
    refuse, because it holds text where numbers were or an infinite number, gets the kind "refused" and is not answered.
    Before anything is returned the same program has answered its self-test as the model does: as a module of Python
    and, of ONNX, in onnxruntime too where that is installed.

    Parameters
    ----------
    model : estimator or path
        A fitted model, or the file that holds it: boosting with abstention or ExactBoost on stumps (pair terms,
        categories and edits too), or thresholds on a linear model; with the preparation of tables by `recuse.fit`, or
        the imputers, scalers and one-hot encoders of scikit-learn in a Pipeline.
    path : path-like, optional
        Where to write it. The self-test of SQL goes beside it, into ``<name>.self_test.sql``; that of ONNX into
        ``<name>.self_test.py``.
    to : {"sql", "python", "javascript", "onnx"}, default="sql"
        Which language. ONNX needs ``recuse[onnx]``.
    dialect : {"duckdb", "postgresql", "sqlite"}, default="duckdb"
        For which database the SQL is.
    table : str, default="cases"
        Name of the table that the SQL reads.
    key : str or sequence of str, optional
        Columns that the SQL hands on, such as the number of a case.
    reasons : bool, default=True
        Whether the leading reason is worked out: the column that adds most to the answer or, of a rejected case, that
        makes it hardest.

    Returns
    -------
    Exported

    Examples
    --------
    >>> import recuse
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:400], "target", 0.1, method="logistic-chow", positive=1)
    >>> exported = recuse.export(model, to="python")
    >>> module = {"__name__": "model"}
    >>> exec(exported.text, module)
    >>> case = table.iloc[450].to_dict()
    >>> bool(module["decide"](case)["answer"] == recuse.decide(model, table[450:451]).label[0])
    True
    >>> module["self_test"]()
    []
    """
    check_choice("to", to, (*_WRITERS,))
    check_choice("dialect", dialect, (*DIALECTS,))
    keys = [key] if isinstance(key, str) else list(key)
    _check_names(to, table, keys)
    if isinstance(model, str | os.PathLike):
        model = load(model)
    program = as_program(model, reasons=reasons)
    cases = draw_cases(model, program)
    _require_agreement(program, cases)
    exported = _WRITERS[to](program, cases, dialect, table, keys)
    if path is not None:
        exported.write(path)
    return exported


def _check_names(to: str, table: str, keys: list[str]) -> None:
    if to != "sql" and (keys or table != _TABLE):
        given = f"key={keys[0]!r}" if keys else f"table={table!r}"
        raise ValueError(f"{given} is for SQL, which reads a table; with to={to!r} there is none: leave it out.")
    if not table:
        raise ValueError("table must be the name of the table that the SQL reads; got ''.")
    taken = [key for key in keys if key.lower() in OUTPUTS]
    if taken:
        raise ValueError(f"key={taken[0]!r} is the name of a column of the answer: give the column another name first.")


def _require_agreement(program: DecisionProgram, cases: Sequence[TestCase]) -> None:
    """Run the program in Python; refuse one that answers its self-test in another way than the model."""
    module: dict[str, Any] = {"__name__": "recuse_self_test"}
    exec(compile(PythonWriter(program).module(__version__, cases), "<export>", "exec"), module)
    wrong = module["self_test"]()
    if wrong:
        values, expected, found = wrong[0]
        raise RuntimeError(
            f"The export answers {len(wrong)} of {len(cases)} cases of its self-test in another way than the model, "
            f"such as {values!r}: {found!r} in place of {expected!r}. Nothing was written; please report this."
        )


def _require_agreement_in_onnx(model: bytes, script: str) -> tuple[str, ...]:
    """Run an ONNX model on its self-test; refuse one that answers otherwise, and say so where it cannot be run."""
    if find_spec("onnxruntime") is None:
        return (_UNTESTED,)
    module: dict[str, Any] = {"__name__": "recuse_self_test"}
    exec(compile(script, "<self-test>", "exec"), module)
    n, wrong = module["self_test"](model)
    if wrong:
        raise RuntimeError(
            f"In onnxruntime the export answers {len(wrong)} of {n} cases of its self-test in another way than the "
            f"model, such as {wrong[0][0]!r}: {wrong[0][2]!r}. Nothing was written; please report this."
        )
    return ()


def _as_sql(program: DecisionProgram, cases: Sequence[TestCase], dialect: str, table: str, keys: list[str]) -> Exported:
    spoken = DIALECTS[dialect]
    writer = SQLWriter(program, spoken)
    head = f"-- The decision of a model over a table, for {dialect}; written by recuse {__version__}.\n"
    head += "".join(f"-- {' '.join(note.split())}\n" for note in program.notes)
    text = f"{head}{writer.select(spoken.identifier(table), keys)};\n"
    test = (
        f"-- Returns the cases that the database answers in another way than the model: none.\n{writer.test(cases)};\n"
    )
    return Exported(text, test, tuple(program.notes))


def _as_module(writer: type[PythonWriter | JavaScriptWriter]) -> Callable[..., Exported]:
    def written(program: DecisionProgram, cases: Sequence[TestCase], *_: Any) -> Exported:
        return Exported(writer(program).module(__version__, cases), None, tuple(program.notes))

    return written


def _as_onnx(program: DecisionProgram, cases: Sequence[TestCase], *_: Any) -> Exported:
    model = GraphWriter(program).model(__version__, cases, program.notes)
    script = files(__package__).joinpath("templates", "onnx.txt").read_text(encoding="utf-8")
    script = script.replace("@VERSION@", __version__)
    untested = _require_agreement_in_onnx(model, script)
    return Exported("", script, (*program.notes, PRECISION, *untested), model)


_WRITERS: dict[str, Callable[..., Exported]] = {
    "sql": _as_sql,
    "python": _as_module(PythonWriter),
    "javascript": _as_module(JavaScriptWriter),
    "onnx": _as_onnx,
}
