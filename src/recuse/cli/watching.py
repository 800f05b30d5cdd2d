"""The command that looks at a model in use: watch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .numbers import count, number
from .options import AsJson, ModelFile
from .printing import names_of, print_json, progress


@app.command()
def watch(
    model: ModelFile,
    log: Annotated[Path, typer.Option("--log", "-l", metavar="LOG", help="The log that `recuse review` keeps.")] = Path(
        "reviews.jsonl"
    ),
    promise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RISK<=LEVEL", help="What was promised, as error<=0.02 (default: what the model was given)."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="COLUMN", help="Columns to watch (default: all); several by commas."),
    ] = None,
    alpha: Annotated[float, number("Probability of any false alarm, ever.", "PROBABILITY")] = 0.05,
    reference: Annotated[
        int,
        count("Reviewed cases at the beginning that later ones are compared with.", least=20),
    ] = 500,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="PAGE", help="Write an HTML page with the series, too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say by the reviews of a model whether a promise is broken and what has changed; exit code 3 on an alarm."""
    from recuse.watching import watch_model, write_page

    with progress("watching", quiet=as_json):
        result = watch_model(
            model,
            log,
            promises=promise or None,
            columns=names_of(columns) or None,
            alpha=alpha,
            reference=reference,
        )
    if out is not None:
        write_page(result, out)
    if as_json:
        print_json(result.as_dict())
    else:
        for line in result.lines():
            print(line)
    if result.alarms:
        raise typer.Exit(3)
