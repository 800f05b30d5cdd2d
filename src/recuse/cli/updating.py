"""The command that brings reviews into a model: update."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .numbers import count, number
from .options import AsJson, DataFile, ModelFile, Seed, complete_methods
from .printing import print_json, progress
from .shared_options import reads_table

AnsweredTable = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        show_default=False,
        help="The table that was answered, if reviewers were not shown all columns of the model.",
    ),
]

AnotherMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        show_default=False,
        help="`recuse methods` lists them (default: the classifier of the model, with its settings).",
        autocompletion=complete_methods,
    ),
]
OnlyIfCheaper = Annotated[
    bool, typer.Option("--only-if-cheaper", help="Write the new model only if it is shown to be cheaper.")
]


@app.command()
@reads_table
def update(
    model: ModelFile,
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", help="Column of the training table with the outcome.")],
    log: Annotated[Path, typer.Option("--log", "-l", metavar="LOG", help="The log that `recuse review` keeps.")] = Path(
        "reviews.jsonl"
    ),
    out: Annotated[Path, typer.Option("--out", "-o", help="File of the new model.")] = Path("new.skops"),
    method: AnotherMethod = None,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", show_default=False, help="Reviews from that day on (default: all).")
    ] = None,
    forget: Annotated[
        float,
        number("Weight taken from the training table; 1 leaves it out, after a change.", "SHARE", least=0, most=1),
    ] = 0.0,
    cases: AnsweredTable = None,
    thresholds_only: Annotated[
        bool, typer.Option("--thresholds-only", help="Move the thresholds; leave the classifier as it is.")
    ] = False,
    folds: Annotated[int, count("Folds of the reviewed cases in the comparison.", least=2)] = 5,
    only_if_cheaper: OnlyIfCheaper = False,
    force: Annotated[bool, typer.Option("--force", help="Write the new model even if it is shown to be dearer.")] = (
        False
    ),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a model anew with the reviewed cases and compare the two on these before anything is written.

    DATA is the table that the model was fitted on. The new model is written unless it is shown to be dearer, also where
    the two cannot be told apart: --only-if-cheaper demands more. Exit code 3 says that nothing was written.
    """
    if force and only_if_cheaper:
        raise typer.BadParameter("it cannot go with --only-if-cheaper: leave one of them out.", param_hint="--force")
    import recuse
    from recuse.persistence.models import require_model_path
    from recuse.updating import update_model

    require_model_path(out)  # before the fits, which may take minutes
    with progress("updating", quiet=as_json) as report:
        found = update_model(
            model,
            data,
            log,
            target=target,
            method=method,
            since=since,
            forget=forget,
            cases=cases,
            thresholds_only=thresholds_only,
            folds=folds,
            seed=seed,
            progress=report,
        )
    written = force or (found.cheaper if only_if_cheaper else found.replaces)
    if written:
        recuse.save(found.model, out)
    _say_updated(found, out, written, as_json)
    if not written:
        raise typer.Exit(3)


def _say_updated(found: Any, out: Path, written: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict() | {"out": str(out) if written else None})
        return
    for line in found.lines():
        print(line)
    print(_what_became(found, out, written), file=sys.stderr)


def _what_became(found: Any, out: Path, written: bool) -> str:
    """Whether the new model was written, and what must not be overlooked then."""
    if not written:
        why = "not shown to be cheaper" if found.replaces else "dearer; --force writes it all the same"
        return f"{out} was not written: the new model is {why}"
    if found.cheaper:
        return f"{out}: the new model"
    but = "not shown to be cheaper; --only-if-cheaper would not have written it" if found.replaces else "dearer"
    return f"{out}: the new model, although it is {but}"
