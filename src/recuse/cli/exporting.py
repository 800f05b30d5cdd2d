"""The command that writes a model for another language: export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .options import ModelFile, Verify
from .printing import names_of, progress


@app.command()
def export(
    model: ModelFile,
    to: Annotated[str, typer.Option("--to", metavar="sql|python|javascript|onnx", help="Which language.")] = "sql",
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="duckdb|postgresql|sqlite", help="For which database the SQL is.")
    ] = "duckdb",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it (default: standard output).")
    ] = None,
    table: Annotated[str, typer.Option("--table", metavar="NAME", help="Table that the SQL reads.")] = "cases",
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="COLUMN", help="Column that the SQL hands on."),
    ] = None,
    reasons: Annotated[bool, typer.Option("--reasons/--no-reasons", help="Whether to give the leading reason.")] = True,
    verify: Verify = None,
) -> None:
    """Write the whole decision of a model as SQL, Python, JavaScript or ONNX, with a test of itself.

    Beside SQL in a file FILE.sql there is then FILE.self_test.sql: it returns the cases that the database answers in
    another way than the model. Beside FILE.onnx there is FILE.self_test.py, which does the same in onnxruntime.
    """
    import recuse

    if to == "onnx" and out is None:
        raise typer.BadParameter("an ONNX model is no text to print: name a file, as model.onnx.", param_hint="--out")
    with progress("exporting", quiet=out is None):
        loaded = recuse.load(model, digest=verify)
        exported = recuse.export(loaded, to=to, dialect=dialect, table=table, key=tuple(names_of(key)), reasons=reasons)
    for note in exported.notes:
        print(f"recuse: {note}", file=sys.stderr)
    if out is None:
        sys.stdout.write(exported.text)
        return
    for path in exported.write(out):
        print(f"{path} written", file=sys.stderr)
