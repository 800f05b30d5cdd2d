"""Options that several commands share: how a table file is to be read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

TABLE_HELP = (
    "Table: CSV, TSV, Parquet, Feather, Excel, JSON Lines, SQLite or DuckDB, also gzipped; FILE::TABLE names a table "
    "or sheet in it, - is standard input. Or a folder of Parquet files, whose folders may name columns."
)

_READING: dict[str, Any] = {
    "table": Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Table of a database, or sheet of a workbook.")
    ],
    "encoding": Annotated[
        str | None, typer.Option("--encoding", help="Of a text file, such as cp1252 (default: found out).")
    ],
    "separator": Annotated[
        str | None,
        typer.Option("--separator", metavar="CHARACTER", help="Between columns, or tab (default: found out)."),
    ],
    "decimal": Annotated[
        str | None, typer.Option("--decimal", metavar=",|.", help="Decimal sign of numbers (default: found out).")
    ],
    "dates": Annotated[
        str | None,
        typer.Option("--dates", metavar="day-first|month-first", help="How 03/02/2024 is meant (default: found out)."),
    ],
}


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a table file: its `data` becomes a `TableFile`."""
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _READING.items()
    ]

    @functools.wraps(command)
    def with_reading(**given: Any) -> None:
        command(**_with_table_file(given))

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    with_reading.__signature__ = signature.replace(parameters=parameters + added)  # type: ignore[attr-defined]
    with_reading.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters + added}
    return with_reading


def _with_table_file(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command, with one object for the table file in place of its path and its options."""
    reading = {name: given.pop(name) for name in _READING}
    data: Path | None = given["data"]
    if data is None:
        for name, value in reading.items():
            if value is not None:
                raise typer.BadParameter("there is no table file to read.", param_hint=f"--{name}")
        return given
    from recuse.tables import TableFile

    return given | {"data": TableFile(data, **reading)}
