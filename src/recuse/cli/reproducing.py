"""The command that repeats the experiments of a paper: reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recuse.reproduce import PROTOCOLS

from .app import app
from .numbers import number
from .printing import progress


def _papers(incomplete: str) -> list[str]:
    return [name for name in PROTOCOLS if name.startswith(incomplete)]


@app.command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help=f"One of {', '.join(PROTOCOLS)}.", autocompletion=_papers)
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, to see that it runs.")] = False,
    minutes: Annotated[float, number("Start no further part after this time.", "MINUTES")] = 60.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results (default: print only).")
    ] = None,
) -> None:
    """Repeat the experiments of a paper."""
    from importlib import import_module

    if paper not in PROTOCOLS:
        raise ValueError(f"paper={paper!r} is not known; there are {', '.join(sorted(PROTOCOLS))}.")
    with progress(f"reproducing {paper}", resumes=out is not None):
        import_module(f"recuse.reproduce.{PROTOCOLS[paper]}").run(quick=quick, minutes=minutes, out=out)
