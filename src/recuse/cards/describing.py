"""Sections that describe the run: its data, its prices, its model, what was not looked at, and the files."""

from __future__ import annotations

from .figures import NUMBER, SHARE, Cell, Document, FactTable, Figure, Section, facts, words
from .model_file import FittedModel
from .running import RunFiles

PRICES = {
    "fp": "A false alarm",
    "fn": "A miss",
    "reject_negative": "Manual review of a negative case",
    "reject_positive": "Manual review of a positive case",
    "reject_novelty": "Manual review of a novelty",
}
ABOUT_PRICES = "All figures of cost follow from these prices. That they are right nobody can read from data."
ABOUT_REJECTING = (
    "Ambiguous is a case between the thresholds, novel one that is unlike any the model was fitted on; both are "
    "rejected, which means that they are left to manual review."
)


def data(files: RunFiles) -> Section:
    """The table, its outcome, and its columns as they were read."""
    run, summary = files.run, files.summary
    shares = (summary.figure("n_positive", form=NUMBER), summary.figure("n_cases", form=NUMBER))
    rows = {
        "Table": run.cell("data", "name"),
        "Digest of its content": run.cell("data", "table"),
        "Rows with an outcome": run.cell("data", "rows", form=NUMBER),
        "Of them answered as held-out cases": run.cell("data", "answered", form=NUMBER),
        "Outcome": run.cell("data", "target"),
        "Outcomes": run.cell("data", "classes"),
        "Positive outcome": run.cell("data", "positive"),
        "Positives among cases answered": Cell(shares, "{} of {}"),
        "Column of groups that folds keep together": run.cell("arguments", "groups"),
        "Column of time that folds follow": run.cell("arguments", "time"),
        "Columns left out": run.cell("arguments", "drop"),
    }
    rows |= {f"Read with --{name}": run.cell("arguments", "read", name) for name in run.at("arguments", "read") or {}}
    hints = tuple(summary.cell("data", "hints", number) for number in range(len(summary.at("data", "hints") or [])))
    return Section("data", "Data", (facts(rows), _columns(files)), hints)


def _columns(files: RunFiles) -> FactTable:
    """Columns, and what the model reads each as."""
    summary, rows = files.summary, []
    for number, column in enumerate(summary.at("data", "columns")):
        place = ("data", "columns", number)
        read_as = words("") if files.model is None else files.model.cell("columns", column["name"])
        counts = (summary.cell(*place, name, form=NUMBER) for name in ("missing", "distinct"))
        rows.append((summary.cell(*place, "name"), summary.cell(*place, "type"), read_as, *counts))
    return FactTable(("column", "stored as", "read as", "empty", "different values"), tuple(rows))


def prices(files: RunFiles) -> Section:
    """What errors and rejections cost."""
    given = files.run.at("arguments", "costs")
    rows = {
        name: files.run.cell("arguments", "costs", key, form=NUMBER) for key, name in PRICES.items() if key in given
    }
    return Section("prices", "Prices", (facts(rows),), (words(ABOUT_PRICES),))


def model(files: RunFiles) -> Section:
    """The method, its thresholds, and what was edited by hand."""
    rows = {
        "Method": files.run.cell("winner"),
        "In words": files.summary.cell(*files.row, "title"),
        "Settings chosen in the folds": files.summary.cell(*files.row, "params"),
        "Compared with": files.run.cell("arguments", "methods"),
    }
    if files.model is None:
        missing = "The run could not write its model, which holds classes that are not of this library."
        return Section("model", "Model and thresholds", (facts(rows),), (words(missing),))
    rows |= thresholds(files.model) | {"What novelty is seen by": files.run.cell("arguments", "novelty")}
    notes = edits(files.model)
    if files.summary.at("promise") is not None:
        # The model file says where the classifier behind the promise puts its thresholds.
        promised = "The thresholds are those of the classifier behind the guarantee, which rejects further cases."
        notes = (words(promised), *notes)
    return Section(
        "model", "Model and thresholds", (facts(rows), *_members(files.summary)), (words(ABOUT_REJECTING), *notes)
    )


def edits(found: Document) -> tuple[Cell, ...]:
    """What was edited by hand, in a model."""
    made = found.at("edits") or []
    notes = tuple(found.cell("edits", number, "sentence", text="Edited: {}") for number in range(len(made)))
    return notes or (words("Nothing in the model was edited by hand."),)


def _members(summary: Document) -> tuple[FactTable, ...]:
    """Members of the ensemble with their weights, where it was chosen."""
    rows = tuple(
        (
            summary.cell("members", number, "title"),
            summary.cell("members", number, "share", form=SHARE),
            summary.cell("members", number, "cost", form=NUMBER),
        )
        for number in range(len(summary.at("members") or []))
    )
    return (FactTable(("member of the ensemble", "weight", "cost per case alone"), rows),) if rows else ()


def thresholds(found: Document) -> dict[str, Cell]:
    """What a model compares with what."""
    rows = {"Class of the model": found.cell("method")}
    names = {"classifier": "Classifier inside", "rule": "Rule that rejects", "score": "Score that is compared"}
    rows |= {label: found.cell(name) for name, label in names.items() if found.at(name) is not None}
    if found.at("thresholds") is not None:
        rows["Rejected as ambiguous above"] = found.cell("thresholds", 0, form=NUMBER)
        rows["and below"] = found.cell("thresholds", 1, form=NUMBER)
    return rows


def limits(files: RunFiles, log: bool) -> Section:
    """What was not looked at."""
    run, summary = files.run, files.summary
    lacking = {
        "No groups were looked at: whether some are served worse is not known.": not run.at("arguments", "by"),
        "Only the groups above were looked at: not others, and not their combinations.": run.at("arguments", "by"),
        "Folds took cases as independent of each other: no column of groups was named.": not run.at(
            "arguments", "groups"
        ),
        "Folds took the order of time as of no matter: figures are not those of a model that answers the future.": (
            not run.at("arguments", "time")
        ),
        "No log of reviews was given: how the model is used, reviewed and overridden is not known.": not log,
        "Rows without an outcome were set aside before the run; it does not keep how many.": True,
        "Figures are about cases like those of the table. What follows from an answer, for a person, is in none.": True,
        "Text that only the owner can state is repeated as it was given, and was not checked.": True,
    }
    found = [words(text) for text, holds in lacking.items() if holds]
    repeated = summary.cell("settings", "repeated")
    warned = (summary.cell("settings", "warnings", place) for place in range(len(summary.at("settings", "warnings"))))
    return Section("limits", "What was not looked at", notes=(*found, repeated, *warned))


def origins(files: RunFiles | FittedModel, others: tuple[Figure, ...], head: Figure | None) -> Section:
    """Digests of all files, and versions."""
    listed = (*files.digests, *others)
    rows = [(words(figure.source.partition("#")[0]), Cell((figure,))) for figure in listed]
    if head is not None:
        rows.append((words("head of the log"), Cell((head,))))
    versions = [] if isinstance(files, FittedModel) else _versions(files.run, "the run")
    versions += _versions(files.model, "the model") if files.model else []
    tables = (FactTable(("file", "SHA-256"), tuple(rows)), FactTable(("software", "version"), tuple(versions)))
    return Section("files", "Files and versions", tables)


def _versions(document: Document, what: str) -> list[tuple[Cell, Cell]]:
    return [(words(f"{name}, of {what}"), document.cell("versions", name)) for name in document.at("versions") or {}]
