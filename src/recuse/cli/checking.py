"""The command that looks at a table before anything runs: check."""

from __future__ import annotations

import typer

from .app import app
from .options import AsJson, DataFile, Drop, Positive, Target
from .printing import names_of, print_json, progress
from .shared_options import reads_table


@app.command()
@reads_table
def check(
    data: DataFile,
    target: Target = None,
    positive: Positive = None,
    drop: Drop = None,
    as_json: AsJson = False,
) -> None:
    """Say what a table would be read as, and what in it would mislead; exit code 3 if there is such a thing."""
    from recuse.tables import check_table

    with progress("checking", quiet=as_json):
        facts = check_table(data, target, positive, drop=tuple(names_of(drop)))
    if as_json:
        print_json(facts.as_dict())
    else:
        for line in facts.lines():
            print(line)
    if facts.findings:
        raise typer.Exit(3)
