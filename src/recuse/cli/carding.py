"""The command for auditors: card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .numbers import count, number
from .options import AsJson
from .printing import print_json, progress


@app.command()
def card(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder that `compare` wrote, or a model file, as of `fit`.")
    ],
    log: Annotated[
        Path | None, typer.Option("--log", "-l", metavar="LOG", help="The log that `recuse review` keeps.")
    ] = None,
    owner: Annotated[
        Path | None, typer.Option(metavar="TOML", help="What only the owner can state; see --template.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The Markdown file; a JSON file goes beside it.")
    ] = Path("card.md"),
    template: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="Write the questions for the owner into this file, and nothing else."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="A head of the log that was kept elsewhere.")
    ] = None,
    promise: Annotated[
        list[str] | None, typer.Option(metavar="RISK<=LEVEL", help="What is watched, as in `recuse watch`.")
    ] = None,
    alpha: Annotated[float, number("As in `recuse watch`.", "PROBABILITY")] = 0.05,
    reference: Annotated[int, count("As in `recuse watch`.", least=20)] = 500,
    name_reviewers: Annotated[
        bool, typer.Option("--name-reviewers", help="Name the reviewers (default: number them).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the card of a run or model for auditors: each figure with its source, and what only the owner can state."""
    from recuse.cards import make_card, write_card, write_questions

    if template is not None:
        write_questions(template)
        print_json({"template": str(template)}) if as_json else print(template)
        return
    with progress("making the card", quiet=as_json):
        made = make_card(
            run,
            log=log,
            owner=owner,
            head=head,
            promises=promise or None,
            alpha=alpha,
            reference=reference,
            name_reviewers=name_reviewers,
        )
        plain = write_card(made, out)
    if as_json:
        print_json({"out": str(out), "json": str(plain), "to_be_stated": made.to_be_stated})
    else:
        print(f"{out} and {plain}; still to be stated by the owner: {made.to_be_stated}")
