"""Commands that make models and show them: fit, inspect."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .numbers import number
from .options import (
    AsJson,
    Cluster,
    Confidence,
    DataFile,
    Drop,
    Groups,
    ModelFile,
    Novelty,
    Policy,
    Positive,
    Promise,
    PromiseGroups,
    Remember,
    Seed,
    Time,
    Verify,
    complete_methods,
)
from .printing import fail, names_of, print_json, progress
from .shared_options import reads_table, tells_prices


@app.command()
@reads_table
@tells_prices
def fit(
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    method: Annotated[
        str, typer.Option("--method", "-m", help="`recuse methods` lists them.", autocompletion=complete_methods)
    ] = "ensemble",
    positive: Positive = None,
    drop: Drop = None,
    groups: Groups = None,
    time: Time = None,
    costs: Any = None,
    policy: Policy = None,
    novelty: Novelty = "range",
    effort: Annotated[
        str | None, typer.Option(help="Of the ensemble: quick, medium (default) or best.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float | None,
        number("Of the ensemble: what would take longer is left out.", "SECONDS"),
    ] = None,
    coverage: Annotated[
        float | None,
        number("Share of the cases to answer, of methods that place thresholds.", "SHARE", show_default=False),
    ] = None,
    promise: Promise = None,
    confidence: Confidence = None,
    promise_groups: PromiseGroups = None,
    remember: Remember = False,
    cluster: Cluster = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file.")] = Path("model.skops"),
    as_json: AsJson = False,
) -> None:
    """Fit a model on a whole table and save it: the ensemble, unless another method is named."""
    import recuse
    from recuse.persistence.models import require_model_path

    require_model_path(out)  # before the fit, which may take minutes
    with progress("fitting", quiet=as_json) as report:
        model = recuse.fit(
            data,
            target,
            costs,
            method=method,
            positive=positive,
            drop=[*names_of(drop), *([] if policy is None else [policy])],
            groups=groups,
            time=time,
            novelty=novelty,
            coverage=coverage,
            promise=promise,
            confidence=confidence,
            promise_groups=promise_groups,
            remember=remember,
            cluster=cluster,
            seed=seed,
            **_ensemble_settings(method, effort, time_limit, report),
        )
    replaced = out.is_file()
    recuse.save(model, out)
    _say_fitted(model, method, data, out, replaced, as_json)


def _say_fitted(model: Any, method: str, data: Any, out: Path, replaced: bool, as_json: bool) -> None:
    """What was fitted, and what it costs on held-out cases where that is known."""
    from recuse.comparison.printing import fitted_sentences
    from recuse.inspecting import inspect_model

    if as_json:
        print_json({"out": str(out), "fitted": method} | inspect_model(out))
        return
    said = "; the file that was there is replaced" if replaced else ""
    print(f"{out}: {method} fitted on {data.shown}{said}", file=sys.stderr)
    for sentence in fitted_sentences(model):
        print(sentence, file=sys.stderr)


def _ensemble_settings(
    method: str, effort: str | None, time_limit: float | None, report: Callable[[int, int, str], None] | None
) -> dict[str, Any]:
    """What only the ensemble takes; what was typed for another method is passed on, to be refused."""
    always = {"n_jobs": -1, "progress": report} if method == "ensemble" else {}
    return {"effort": effort, "time_limit": time_limit} | always


@app.command(context_settings={"allow_extra_args": True})
def inspect(
    context: typer.Context,
    model: ModelFile,
    digest: Annotated[
        bool, typer.Option("--digest", help="Print the digest of the file only, to keep elsewhere.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option("--report", metavar="PAGE", help="Write an HTML page too: the edits, before and after."),
    ] = None,
    verify: Verify = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model file holds: method, prices, thresholds, edits, columns, versions, digest."""
    if context.args:  # most often a digest behind --digest, which takes none
        stray = " ".join(context.args)
        fail(f"inspect takes one file; got {stray!r} besides. To compare it with a digest, use --verify DIGEST.", 2)
    from recuse.inspecting import inspect_model, report_model

    facts = inspect_model(model, digest=verify) if page is None else report_model(model, page, digest=verify)
    if page is not None:
        print(f"{page}: the model as a page, with its edits", file=sys.stderr)
    if digest:
        facts = {"digest": facts["digest"]}
    if as_json:
        print_json(facts)
        return
    if digest:
        print(facts["digest"])
        return
    for edit in facts.pop("edits", []):
        print(f"{'edit':<12} {edit['sentence']}")
    for name, value in facts.items():
        if name == "prices" and any(isinstance(part, dict) for part in value.values()):
            for truth, row in value.items():  # of three classes or more: what each answer costs
                print(f"{name:<12} {truth}: {_listed(row)}")
        else:
            print(f"{name:<12} {_listed(value) if isinstance(value, dict) else value}")


def _listed(facts: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {part}" for key, part in facts.items())
