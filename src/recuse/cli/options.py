"""Options of the commands, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recuse.dask.connection import parse_cluster

from .numbers import count, number
from .shared_options import TABLE_HELP


def complete_methods(incomplete: str) -> list[str]:
    """Complete the last of several names separated by commas."""
    from recuse.comparison.listed import LISTED

    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{method.name}" for method in LISTED if method.name.startswith(begun)]


def _repeats(text: str) -> int | str:
    """A number of repetitions, or "auto"."""
    if text != "auto" and not (text.isdecimal() and int(text) > 0):
        raise typer.BadParameter(f"{text!r} is neither auto nor a number of 1 or more.")
    return text if text == "auto" else int(text)


def _cluster(text: str) -> str:
    """The address of a cluster, or so many processes."""
    try:
        parse_cluster(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File written by `compare` or `fit`.")]
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE_HELP)]
OptionalDataFile = Annotated[Path | None, typer.Argument(metavar="DATA", help=f"{TABLE_HELP} Default: breast cancer.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the results of another table in that folder.")]
CompareLimit = Annotated[
    float | None,
    number("Begin no fit after that; methods that lack folds are left out.", "SECONDS"),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.")]
Positive = Annotated[
    str | None, typer.Option(help="Positive outcome, against all others (default: of two the second when sorted).")
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Column to leave out; separate several by commas, or repeat --drop."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Column that says which cases belong together, such as the patient of each visit: they are never on both "
        "sides of a fold.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="COLUMN", help="Column with the date or time: train on the past, answer what came after."
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Column whose segments the report shows, with a warning where one is served worse; several by commas.",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy", metavar="COLUMN", help="Column with what is decided today: yes, no or review. It is no feature."
    ),
]
Promise = Annotated[
    str | None,
    typer.Option(
        metavar="RISK<=LEVEL",
        help="What the model is to promise of its answers, such as error<=0.02; several by commas, of error, cost, "
        "misses, false_alarms.",
    ),
]
Confidence = Annotated[
    float | None,
    number("Confidence of the promise (default: 0.95).", "SHARE", show_default=False),
]
PromiseGroups = Annotated[
    str | None,
    typer.Option("--promise-groups", metavar="COLUMN", help="Column in each of whose groups the promise is to hold."),
]
Novelty = Annotated[
    str,
    typer.Option(metavar="range|off", help="Reject cases with a number far outside the training range, or do not."),
]
Repeats = Annotated[
    str,
    typer.Option(
        metavar="auto|N",
        parser=_repeats,
        help="Repetitions with other folds; auto: small tables, until the choice is steady, ten at most.",
    ),
]
Seed = Annotated[int, count("Random state.")]
Verify = Annotated[
    str | None,
    typer.Option("--verify", metavar="DIGEST", help="Refuse the model unless its file has this digest (see inspect)."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local:N",
        parser=_cluster,
        help="Work on a dask cluster: the address of its scheduler, or so many processes on this machine.",
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(help="Methods, separated by commas; `recuse methods` lists them.", autocompletion=complete_methods),
]
AnswersOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="File, its name tells the format (default: CSV to standard output), or a folder."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", metavar="COLUMN|all", help="Column of the table to write beside the answers; several by commas."
    ),
]
Raw = Annotated[
    bool | None,
    typer.Option(
        "--raw/--neutralise",
        show_default=False,
        help="Write text that a spreadsheet would run as it is, or mark it as text (default: mark it in CSV only).",
    ),
]
ExplainAll = Annotated[
    bool, typer.Option("--explain-all", help="Name the columns that speak for either class of answered cases, too.")
]
Neighbours = Annotated[
    int | None,
    count("Nearest training cases of each class to name: see fit --remember.", least=1, show_default=False),
]
Remember = Annotated[
    bool, typer.Option("--remember", help="Keep the cases in the model file, for predict --neighbours.")
]
Reasons = Annotated[bool, typer.Option(help="Write a sentence for each case; large tables are faster without.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]
