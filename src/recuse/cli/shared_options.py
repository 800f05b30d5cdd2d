"""Groups of options that become one argument: how a table file is to be read, and how many cases there are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .numbers import number
from .printing import names_of

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
    "missing": Annotated[
        str | None,
        typer.Option("--missing", metavar="TEXT", help="What else than an empty cell means unknown: n.k.,-99."),
    ],
}


_VOLUME: dict[str, Any] = {
    "volume": Annotated[
        str | None, typer.Option("--volume", metavar="N/month", help="Cases in a day, week, month, quarter or year.")
    ],
    "currency": Annotated[str | None, typer.Option("--currency", help="What the prices are counted in, such as EUR.")],
    "minutes_per_case": Annotated[
        float | None,
        number("How long a person looks at one case.", "MINUTES", "--minutes-per-case"),
    ],
    "hours_per_reviewer": Annotated[
        float | None,
        number(
            "Hours of reviewing a person has in that period (default: 120 in a month).", "HOURS", "--hours-per-reviewer"
        ),
    ],
}

_POLICY: dict[str, Any] = {
    "policy_yes": Annotated[
        str | None,
        typer.Option(
            "--policy-yes",
            metavar="TEXT",
            help="What --policy holds where a case is treated as positive, such as declined; several by commas.",
        ),
    ],
    "policy_no": Annotated[
        str | None, typer.Option("--policy-no", metavar="TEXT", help="The same where it is treated as negative.")
    ],
    "policy_review": Annotated[
        str | None, typer.Option("--policy-review", metavar="TEXT", help="The same where a person decides.")
    ],
}

_PRICES: dict[str, Any] = {
    "costs": Annotated[
        Path | None,
        typer.Option(
            "--costs",
            metavar="TABLE",
            help="Prices of every answer to every outcome, such as prices.csv: rows truth, columns answer, and a "
            "column reject.",
        ),
    ],
    "fp": Annotated[
        float | None,
        number("Price of a false alarm.", "PRICE", "--fp", show_default="1"),
    ],
    "fn": Annotated[
        float | None,
        number(
            "Price of a miss; of three outcomes or more that of every error, as --fp.",
            "PRICE",
            "--fn",
            show_default="5",
        ),
    ],
    "reject": Annotated[
        float | None,
        number("Cost of the manual review of one case.", "PRICE", "--reject", show_default="0.3"),
    ],
    "reject_positive": Annotated[
        float | None,
        number("The same of a positive case (default: --reject).", "PRICE", "--reject-positive"),
    ],
    "reject_negative": Annotated[
        float | None,
        number("The same of a negative case (default: --reject).", "PRICE", "--reject-negative"),
    ],
}


def tells_prices(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of prices: its `costs` becomes what was typed."""
    return _with_options(command, _PRICES, _with_prices)


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a table file: its `data` becomes a `TableFile`."""
    return _with_options(command, _READING, _with_table_file)


def tells_volume(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of money and people: its `volume` becomes a `Volume`, or None."""
    return _with_options(command, _VOLUME, _with_volume)


def tells_policy(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of what today's decisions are called: its `policy_words` becomes what was typed."""
    return _with_options(command, _POLICY, _with_policy, made=("policy_words",))


def _with_options(
    command: Callable[..., None],
    options: dict[str, Any],
    change: Callable[[dict[str, Any]], dict[str, Any]],
    made: tuple[str, ...] = (),
) -> Callable[..., None]:
    """A command with further options, which are changed into its own arguments before it is called.

    Arguments that are `made` of them are no options themselves.
    """
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in options.items()
    ]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        command(**change(given))

    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.name not in options and parameter.name not in made
    ]
    with_options.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in own + added}
    return with_options


def _with_volume(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command, with one object for how many cases there are in place of its options."""
    others = {name: given.pop(name) for name in _VOLUME if name != "volume"}
    if given["volume"] is None:
        for name, value in others.items():
            if value is not None:
                hint = f"--{name.replace('_', '-')}"
                raise typer.BadParameter("say how many cases there are with --volume, as 12000/month.", param_hint=hint)
        return given
    from recuse.report import Volume

    others["currency"] = others["currency"] or ""
    return given | {"volume": Volume.of(given["volume"], **others)}


def _with_policy(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command, with one dict for what yes, no and review are called in place of its options."""
    typed = {name.removeprefix("policy_"): given.pop(name) for name in _POLICY}
    return given | {"policy_words": {name: names_of([texts]) for name, texts in typed.items() if texts is not None}}


def _with_prices(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command, with one object for the prices in place of its options."""
    typed = {name: given.pop(name) for name in _PRICES}
    from recuse.comparison.prices import StatedPrices

    return given | {"costs": StatedPrices(file=typed.pop("costs"), **typed)}


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

    reading["missing"] = [mark.strip() for mark in (reading["missing"] or "").split(",") if mark.strip()]
    return given | {"data": TableFile(data, **reading)}
