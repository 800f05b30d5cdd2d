"""Commands that compare methods: compare, methods, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .numbers import count
from .options import (
    AsJson,
    By,
    Cluster,
    CompareLimit,
    Confidence,
    Drop,
    Groups,
    Methods,
    Novelty,
    OptionalDataFile,
    Overwrite,
    Policy,
    Positive,
    Promise,
    PromiseGroups,
    Repeats,
    Seed,
    Target,
    Time,
)
from .printing import names_of, print_json, progress
from .shared_options import reads_table, tells_policy, tells_prices, tells_volume


@app.command()
@reads_table
@tells_policy
@tells_volume
@tells_prices
def compare(
    data: OptionalDataFile = None,
    target: Target = None,
    positive: Positive = None,
    drop: Drop = None,
    groups: Groups = None,
    time: Time = None,
    by: By = None,
    policy: Policy = None,
    policy_words: Any = None,
    volume: Any = None,
    promise: Promise = None,
    confidence: Confidence = None,
    promise_groups: PromiseGroups = None,
    costs: Any = None,
    novelty: Novelty = "range",
    methods: Methods = None,
    cv: Annotated[int, count("Folds.", least=2)] = 5,
    repeats: Repeats = "auto",
    n_jobs: Annotated[int, count("Folds computed in parallel; -1 for all cores.")] = -1,
    cluster: Cluster = None,
    time_limit: CompareLimit = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("recuse-run"),
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Cross-validate reject-option classifiers on a table and write a report, decisions and the best model.

    If it was interrupted, the same command resumes where it stopped.
    """
    if data is not None and target is None:
        raise typer.BadParameter("name the column to predict.", param_hint="--target")
    import recuse

    with progress("comparing", quiet=as_json, resumes=True) as report:
        result = recuse.compare(
            data,
            target,
            positive=positive,
            drop=names_of(drop),
            groups=groups,
            time=time,
            by=names_of(by),
            policy=policy,
            policy_words=policy_words,
            volume=volume,
            promise=promise,
            confidence=confidence,
            promise_groups=promise_groups,
            costs=costs,
            methods=None if methods is None else names_of([methods]),
            cv=cv,
            repeats=repeats,
            n_jobs=n_jobs,
            novelty=novelty,
            cluster=cluster,
            time_limit=time_limit,
            seed=seed,
            out=out,
            overwrite=overwrite,
            progress=report,
        )
    _say_compared(result, out, data, as_json)


def _say_compared(result: Any, out: Path, data: Any, as_json: bool) -> None:
    from recuse.comparison.printing import leaderboard_json, print_leaderboard

    if as_json:
        print(leaderboard_json(result, out))
    else:
        print_leaderboard(result, out, data)


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods of `compare` and `fit`."""
    from recuse.comparison.listed import LISTED

    rows = [method._asdict() for method in LISTED]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        size = f" (tables up to {row['max_rows']:,} rows)" if row["max_rows"] else ""
        print(f"{row['name']:<22} {row['title']}{size}")


@app.command()
@tells_volume
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder that `compare` wrote.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file (default: report.html in it).")] = None,
    by: By = None,
    volume: Any = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a finished run again."""
    from recuse.report import rewrite

    with progress("writing the report", quiet=as_json):
        written = rewrite(run, out, by=names_of(by), volume=volume)
    if as_json:
        print_json({"run": str(run), "out": str(written)})
    else:
        print(written)
