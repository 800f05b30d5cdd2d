"""The application that the commands are listed in."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="recuse",
    help="Classifiers that know when to step aside: yes, no, or manual review, at the lowest total cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from recuse import __version__

        print(__version__)
        raise typer.Exit
