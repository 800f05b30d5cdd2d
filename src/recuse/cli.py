"""The command line: arguments only. Each command imports what it needs when it runs, which keeps --help fast."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from recuse.dask.connection import parse_cluster
from recuse.dask.faults import ClusterError
from recuse.extras import EXTRAS, missing
from recuse.options import TABLE_HELP, reads_table, tells_volume
from recuse.reproduce import PROTOCOLS
from recuse.terminal import Report, shown_work, with_count

app = typer.Typer(
    name="recuse",
    help="Classifiers that know when to step aside: yes, no, or manual review, at the lowest total cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _methods(incomplete: str) -> list[str]:
    """Complete the last of several names separated by commas."""
    from recuse.comparison.listed import LISTED

    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{method.name}" for method in LISTED if method.name.startswith(begun)]


def _papers(incomplete: str) -> list[str]:
    return [name for name in PROTOCOLS if name.startswith(incomplete)]


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


DataFile = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE_HELP)]
OptionalDataFile = Annotated[Path | None, typer.Argument(metavar="DATA", help=f"{TABLE_HELP} Default: breast cancer.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the results of another table in that folder.")]
CompareLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Begin no fit after that; methods that lack folds are left out."),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column to predict, with two outcomes.")]
Positive = Annotated[str | None, typer.Option(help="Positive outcome (default: the second when sorted).")]
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
Fp = Annotated[float, typer.Option(help="Price of a false alarm.")]
Fn = Annotated[float, typer.Option(help="Price of a miss.")]
Reject = Annotated[float, typer.Option(help="Cost of the manual review of one case.")]
RejectPositive = Annotated[
    float | None, typer.Option(show_default=False, help="The same of a positive case (default: --reject).")
]
RejectNegative = Annotated[
    float | None, typer.Option(show_default=False, help="The same of a negative case (default: --reject).")
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
Seed = Annotated[int, typer.Option(help="Random state.")]
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
    typer.Option(help="Methods, separated by commas; `recuse methods` lists them.", autocompletion=_methods),
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
    typer.Option(min=1, show_default=False, help="Nearest training cases of each class to name: see fit --remember."),
]
Remember = Annotated[
    bool, typer.Option("--remember", help="Keep the cases in the model file, for predict --neighbours.")
]
Reasons = Annotated[bool, typer.Option(help="Write a sentence for each case; large tables are faster without.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from recuse import __version__

        print(__version__)
        raise typer.Exit


@app.command()
@reads_table
@tells_volume
def compare(
    data: OptionalDataFile = None,
    target: Target = None,
    positive: Positive = None,
    drop: Drop = None,
    groups: Groups = None,
    time: Time = None,
    by: By = None,
    policy: Policy = None,
    volume: Any = None,
    fp: Fp = 1.0,
    fn: Fn = 5.0,
    reject: Reject = 0.3,
    reject_positive: RejectPositive = None,
    reject_negative: RejectNegative = None,
    novelty: Novelty = "range",
    methods: Methods = None,
    cv: Annotated[int, typer.Option(min=2, help="Folds.")] = 5,
    repeats: Repeats = "auto",
    n_jobs: Annotated[int, typer.Option(help="Folds computed in parallel; -1 for all cores.")] = -1,
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
    from recuse.comparison.printing import leaderboard_json, print_leaderboard

    with _progress("comparing", quiet=as_json, resumes=True) as report:
        result = recuse.compare(
            data,
            target,
            positive=positive,
            drop=_names(drop),
            groups=groups,
            time=time,
            by=_names(by),
            policy=policy,
            volume=volume,
            costs=recuse.Costs(fp, fn, reject, reject_positive=reject_positive, reject_negative=reject_negative),
            methods=None if methods is None else _names([methods]),
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
    if as_json:
        print(leaderboard_json(result, out))
    else:
        print_leaderboard(result, out)


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods of `compare` and `fit`."""
    from recuse.comparison.listed import LISTED

    rows = [method._asdict() for method in LISTED]
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        size = f" (tables up to {row['max_rows']:,} rows)" if row["max_rows"] else ""
        print(f"{row['name']:<22} {row['title']}{size}")


@app.command()
@reads_table
def fit(
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict, with two outcomes.")],
    method: Annotated[
        str, typer.Option("--method", "-m", help="`recuse methods` lists them.", autocompletion=_methods)
    ] = "ensemble",
    positive: Positive = None,
    drop: Drop = None,
    groups: Groups = None,
    time: Time = None,
    fp: Fp = 1.0,
    fn: Fn = 5.0,
    reject: Reject = 0.3,
    reject_positive: RejectPositive = None,
    reject_negative: RejectNegative = None,
    novelty: Novelty = "range",
    effort: Annotated[
        str | None, typer.Option(help="Of the ensemble: quick, medium (default) or best.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Of the ensemble: what would take longer is left out."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(show_default=False, help="Share of the cases to answer, of methods that place thresholds."),
    ] = None,
    remember: Remember = False,
    cluster: Cluster = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file.")] = Path("model.skops"),
    as_json: AsJson = False,
) -> None:
    """Fit a model on a whole table and save it: the ensemble, unless another method is named."""
    import recuse

    with _progress("fitting", quiet=as_json) as report:
        model = recuse.fit(
            data,
            target,
            recuse.Costs(fp, fn, reject, reject_positive=reject_positive, reject_negative=reject_negative),
            method=method,
            positive=positive,
            drop=_names(drop),
            groups=groups,
            time=time,
            novelty=novelty,
            coverage=coverage,
            remember=remember,
            cluster=cluster,
            seed=seed,
            **_ensemble_settings(method, effort, time_limit, report),
        )
    recuse.save(model, out)
    _say_fitted(model, method, data, out, as_json)


def _say_fitted(model: Any, method: str, data: Any, out: Path, as_json: bool) -> None:
    """What was fitted, and what it costs on held-out cases where that is known."""
    from recuse.comparison.printing import fitted_sentences
    from recuse.inspecting import inspect_model

    if as_json:
        _print_json({"out": str(out), "fitted": method} | inspect_model(out))
        return
    print(f"{out}: {method} fitted on {data.shown}", file=sys.stderr)
    for sentence in fitted_sentences(model):
        print(sentence, file=sys.stderr)


def _ensemble_settings(
    method: str, effort: str | None, time_limit: float | None, report: Callable[[int, int, str], None] | None
) -> dict[str, Any]:
    """What only the ensemble takes; what was typed for another method is passed on, to be refused."""
    always = {"n_jobs": -1, "progress": report} if method == "ensemble" else {}
    return {"effort": effort, "time_limit": time_limit} | always


@app.command()
@reads_table
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File written by `compare` or `fit`.")],
    data: DataFile,
    out: AnswersOut = None,
    keep: Keep = None,
    format: Annotated[str | None, typer.Option("--format", metavar="csv|jsonl|parquet", help="What to write.")] = None,
    capacity: Annotated[
        int | None, typer.Option(min=0, help="How many cases can be reviewed: ranks the rejected ones.")
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

    import recuse
    from recuse.predicting import predict_table
    from recuse.tables import is_dataset

    if out is None and as_json:
        raise typer.BadParameter(
            "--json needs --out: only one of the two can go to standard output.", param_hint="--json"
        )
    loaded, file = recuse.load(model, digest=verify), sys.stdout.buffer if out is None else out
    with _progress("answering", quiet=as_json, resumes=is_dataset(data), unit="cases") as report:
        answered = predict_table(
            loaded,
            data,
            file,
            capacity=capacity,
            raw=raw,
            keep=_names(keep),
            format=format,
            reasons="all" if reasons and explain_all else reasons,
            neighbours=neighbours,
            cluster=cluster,
            overwrite=overwrite,
            progress=with_count(report),
        )
    if as_json:
        _print_json(asdict(answered) | {"rejected": answered.rejected, "out": str(out)})
    else:
        print(answered, file=sys.stderr)


@app.command()
@reads_table
def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File written by `compare` or `fit`.")],
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the outcome.")],
    verify: Verify = None,
    as_json: AsJson = False,
) -> None:
    """Count what a model costs on new cases whose outcomes are known: cost, coverage, errors, calibration."""
    import recuse
    from recuse.evaluating import evaluate_table

    with _progress("evaluating", quiet=as_json):
        found = evaluate_table(recuse.load(model, digest=verify), data, target)
    if as_json:
        _print_json(found.as_dict())
        return
    for line in found.lines():
        print(line)


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

    with _progress("checking", quiet=as_json):
        facts = check_table(data, target, positive, drop=tuple(_names(drop)))
    if as_json:
        _print_json(facts.as_dict())
    else:
        for line in facts.lines():
            print(line)
    if facts.findings:
        raise typer.Exit(3)


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

    with _progress("writing the report", quiet=as_json):
        written = rewrite(run, out, by=_names(by), volume=volume)
    if as_json:
        _print_json({"run": str(run), "out": str(written)})
    else:
        print(written)


@app.command(context_settings={"allow_extra_args": True})
def inspect(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File written by `compare` or `fit`.")],
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
        _fail(f"inspect takes one file; got {stray!r} besides. To compare it with a digest, use --verify DIGEST.", 2)
    from recuse.inspecting import inspect_model, report_model

    facts = inspect_model(model, digest=verify) if page is None else report_model(model, page, digest=verify)
    if digest:
        facts = {"digest": facts["digest"]}
    if as_json:
        _print_json(facts)
        return
    if digest:
        print(facts["digest"])
        return
    for edit in facts.pop("edits", []):
        print(f"{'edit':<12} {edit['sentence']}")
    for name, value in facts.items():
        shown = ", ".join(f"{key}: {part}" for key, part in value.items()) if isinstance(value, dict) else value
        print(f"{name:<12} {shown}")


@app.command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help=f"One of {', '.join(PROTOCOLS)}.", autocompletion=_papers)
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, to see that it runs.")] = False,
    minutes: Annotated[float, typer.Option(help="Start no further part after this time.")] = 60.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results (default: print only).")
    ] = None,
) -> None:
    """Repeat the experiments of a paper."""
    from importlib import import_module

    if paper not in PROTOCOLS:
        raise ValueError(f"paper={paper!r} is not known; there are {', '.join(sorted(PROTOCOLS))}.")
    with _progress(f"reproducing {paper}", resumes=out is not None):
        import_module(f"recuse.reproduce.{PROTOCOLS[paper]}").run(quick=quick, minutes=minutes, out=out)


@contextmanager
def _progress(what: str, *, quiet: bool = False, resumes: bool = False, unit: str = "") -> Iterator[Report]:
    """Progress on standard error; an interrupt is one line."""
    with shown_work(what, quiet=quiet, unit=unit) as report:
        try:
            yield report
            return
        except KeyboardInterrupt:
            pass
    _fail("interrupted; the same command resumes where it stopped." if resumes else "interrupted.", 130)


def _names(given: list[str] | None) -> list[str]:
    """Names separated by commas, from an option that may be repeated."""
    return [name.strip() for part in given or [] for name in part.split(",") if name.strip()]


def _print_json(data: Any) -> None:
    import json

    print(json.dumps(data, default=str))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 done, 1 bad input with one line on standard error, 2 wrong usage."""
    warnings.showwarning = _show_warning
    _show_information()
    _print_any_character()
    try:
        app(args=arguments)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        _fail(missing(package, "The recuse command") if package in EXTRAS else str(error), 1)
    except (ValueError, TypeError, OSError, ImportError, ClusterError) as error:
        _fail(" ".join(str(error).split()) or type(error).__name__, 1)


def _print_any_character() -> None:
    """Let names that the output cannot spell (a file or pipe in a national encoding) appear with escapes instead."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"recuse: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _show_information() -> None:
    """Let what the library has to say, such as which outcome is positive, appear on standard error."""
    import logging

    class ToStandardError(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(f"recuse: {record.getMessage()}", file=sys.stderr)

    for name in ("recuse.comparison", "recuse.ensemble", "recuse.tables"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.handlers = [ToStandardError()]


def _fail(text: str, code: int) -> None:
    print(f"recuse: {text}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
