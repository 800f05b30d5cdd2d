"""Commands for people who review: review out, review in, review verify, plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .numbers import count, number
from .options import AsJson, DataFile, ModelFile
from .printing import names_of, print_json, progress
from .shared_options import reads_table, tells_volume

review = typer.Typer(
    help="Give cases to reviewers, take their verdicts in, and check the log of both.", no_args_is_help=True
)
app.add_typer(review, name="review")

Log = Annotated[
    Path, typer.Option("--log", "-l", metavar="LOG", help="The log of reviews; it is created if there is none.")
]

Audit = Annotated[
    float, number("Share of the accepted cases that is reviewed, mixed in unmarked.", "SHARE", least=0, most=1)
]
AtRandom = Annotated[float, number("Share of the capacity drawn at random; the rest goes to the most urgent.", "SHARE")]


@review.command("out")
def out_to_reviewers(
    model: ModelFile,
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="File written by `predict`, with --keep for what reviewers need.")
    ],
    log: Log = Path("reviews.jsonl"),
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the packets go.")] = Path("packets"),
    audit: Audit = 0.02,
    capacity: Annotated[
        int | None,
        count("How many rejected cases can be reviewed (default: all).", least=1),
    ] = None,
    at_random: AtRandom = 0.25,
    packets: Annotated[int, count("How many packets.", least=1)] = 1,
    reviewers: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One packet for each; several by commas.")
    ] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Show nothing of the model's answer.")] = False,
    show: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Kept columns to show (default: all); several by commas.")
    ] = None,
    format: Annotated[str, typer.Option("--format", metavar="csv|label-studio", help="What to write.")] = "csv",
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            show_default=False,
            help="Between columns of CSV packets, or tab (default: ; beside decimal commas, else a comma).",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Draw also among cases that were given out before.")] = False,
    seed: Annotated[
        int | None,
        count("Of the draw (default: one that nobody knows).", least=0, show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw answered cases and write them into packets for reviewers."""
    from recuse.reviews import write_packets

    with progress("writing packets", quiet=as_json):
        written = write_packets(
            model,
            answers,
            out,
            log=log,
            audit=audit,
            capacity=capacity,
            at_random=at_random,
            packets=packets,
            reviewers=names_of(reviewers) or None,
            blind=blind,
            show=names_of(show) or None,
            format=format,
            separator=separator,
            again=again,
            seed=seed,
        )
    _say(written, as_json)


@review.command("in")
def verdicts_in(
    packets: Annotated[list[Path], typer.Argument(metavar="PACKET...", help="Packets with verdicts.")],
    log: Log = Path("reviews.jsonl"),
    reviewer: Annotated[
        str | None, typer.Option(show_default=False, help="Who reviewed (default: what the packets say).")
    ] = None,
    revise: Annotated[bool, typer.Option("--revise", help="Let verdicts replace others of the same task.")] = False,
    accept_changed: Annotated[
        bool, typer.Option("--accept-changed", help="Take rows whose values are not those that were given out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the verdicts in packets and append them to the log; none of them if one is wrong."""
    from recuse.reviews import read_verdicts

    with progress("reading verdicts", quiet=as_json):
        taken = read_verdicts(packets, log=log, reviewer=reviewer, revise=revise, accept_changed=accept_changed)
    _say(taken, as_json)


@review.command()
def verify(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The log of reviews.")] = Path("reviews.jsonl"),
    head: Annotated[
        str | None, typer.Option("--head", metavar="DIGEST", help="A head that was kept elsewhere, of any time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check every byte of a log; exit code 3 if it was tampered with."""
    from recuse.reviews import ReviewLog, TamperedLogError

    if not log.exists() and not log.with_name(f"{log.name}.head").exists():
        raise FileNotFoundError(f"The log {log} does not exist: give the file that `recuse review out` wrote.")
    try:
        state = ReviewLog(log, head=head).verify()
    except TamperedLogError as error:
        if as_json:
            print_json({"intact": False, "found": str(error)})
        else:
            print(error)
        raise typer.Exit(3) from None
    if as_json:
        print_json({"intact": True} | asdict(state))
    else:
        print(f"{log}: {state}")


@app.command()
@reads_table
@tells_volume
def plan(
    model: ModelFile,
    data: DataFile,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column with the outcome (default: believe the model's probabilities)."),
    ] = None,
    volume: Any = None,
    hours: Annotated[
        float | None,
        number("Hours of reviewing in a period (default: enough).", "HOURS", least=0, show_default=False),
    ] = None,
    reviewers: Annotated[
        float | None,
        number("The same as a number of people.", "N", least=0, show_default=False),
    ] = None,
    days: Annotated[int, count("How far ahead the queue is shown.", metavar="DAYS", least=1)] = 90,
    waiting: Annotated[int, count("Cases that wait already.", least=0)] = 0,
    seed: Annotated[int, count("Of the replays that the intervals come from.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Plan reviewers' hours: what they cost and save, what one more is worth, and how many cases wait.

    DATA is a table of cases like those that will come, or the answers to one.
    """
    if volume is None:
        raise typer.BadParameter("say how many cases will come, as 12000/month.", param_hint="--volume")
    if reviewers is not None:
        if hours is not None:
            raise typer.BadParameter("give --hours or --reviewers, not both.", param_hint="--reviewers")
        hours = reviewers * volume.hours_per_reviewer
    from recuse.planning import plan_reviews

    with progress("planning", quiet=as_json):
        found = plan_reviews(
            model, data, volume=volume, target=target, hours=hours, days=days, waiting=waiting, seed=seed
        )
    if as_json:
        print_json(found.as_dict())
        return
    for line in found.lines():
        print(line)


def _say(done: Any, as_json: bool) -> None:
    if as_json:
        print_json(asdict(done))
    else:
        print(done)
