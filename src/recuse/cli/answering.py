"""Commands that use models: predict, evaluate."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .app import app
from .numbers import count
from .options import (
    AnswersOut,
    AsJson,
    Cluster,
    DataFile,
    ExplainAll,
    Keep,
    ModelFile,
    Neighbours,
    Raw,
    Reasons,
    Verify,
)
from .printing import names_of, print_json, progress
from .shared_options import reads_table
from .terminal import with_count


@app.command()
@reads_table
def predict(
    model: ModelFile,
    data: DataFile,
    out: AnswersOut = None,
    keep: Keep = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="csv|jsonl|parquet|xlsx", help="What to write.")
    ] = None,
    capacity: Annotated[
        int | None,
        count("How many cases can be reviewed: ranks the rejected ones.", least=0),
    ] = None,
    raw: Raw = None,
    reasons: Reasons = True,
    explain_all: ExplainAll = False,
    neighbours: Neighbours = None,
    cluster: Cluster = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in the folder of --out.")] = False,
    verify: Verify = None,
    as_json: AsJson = False,
) -> None:
    """Answer every case of a table, of any size, with a decision and a reason.

    The files of a folder are answered one by one, on a cluster several at once. If it was interrupted, the same
    command continues where it stopped.
    """
    from dataclasses import asdict

    from recuse.predicting import predict_table
    from recuse.tables import is_dataset

    if out is None and as_json:
        raise typer.BadParameter(
            "--json needs --out: only one of the two can go to standard output.", param_hint="--json"
        )
    replaced = out is not None and out.is_file()
    file = sys.stdout.buffer if out is None else out
    with progress("answering", quiet=as_json, resumes=is_dataset(data), unit="cases") as report:
        answered = predict_table(
            model,
            data,
            file,
            capacity=capacity,
            raw=raw,
            keep=names_of(keep),
            format=format,
            reasons="all" if reasons and explain_all else reasons,
            neighbours=neighbours,
            digest=verify,
            cluster=cluster,
            overwrite=overwrite,
            progress=with_count(report),
        )
    if as_json:
        print_json(asdict(answered) | {"rejected": answered.rejected, "out": str(out)})
    else:
        print(f"{answered}{f'; {out} was there before and is replaced' if replaced else ''}", file=sys.stderr)


@app.command()
@reads_table
def evaluate(
    model: ModelFile,
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the outcome.")],
    verify: Verify = None,
    as_json: AsJson = False,
) -> None:
    """Count what a model costs on new cases whose outcomes are known: cost, coverage, errors, calibration."""
    import recuse
    from recuse.evaluating import evaluate_table

    with progress("evaluating", quiet=as_json):
        found = evaluate_table(recuse.load(model, digest=verify), data, target)
    if as_json:
        print_json(found.as_dict())
        return
    for line in found.lines():
        print(line)
