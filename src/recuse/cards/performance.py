"""Sections about how the method chosen did on cases that it had not seen."""

from __future__ import annotations

from .figures import INTERVAL, NUMBER, SHARE, Cell, FactTable, Section, facts, words
from .running import RunFiles

_HELD_OUT = (
    "These are figures of the method: models that it fitted on parts of the table answered the other cases. The model "
    "in model.skops was fitted afterwards."
)


def performance(files: RunFiles) -> Section:
    """Cost, coverage, errors and rejections by kind."""
    summary, row = files.summary, files.row
    errors = {
        "False alarms": ("false_alarms", "answered_negatives", "accepted negatives"),
        "Misses": ("misses", "answered_positives", "accepted positives"),
    }
    rows = {
        "Cost per case": summary.limits(*row, "cost"),
        "Cost per case, corrected for the choice among methods": summary.triple("verdict", "cost"),
        "Coverage: share of the cases accepted": summary.cell(*row, "coverage", form=SHARE),
        "Rejected as ambiguous": summary.cell(*row, "ambiguity", form=SHARE),
        "Rejected as novel": summary.cell(*row, "novelty", form=SHARE),
        "Share of right answers among accepted cases": summary.cell(*row, "accuracy", form=SHARE),
        "Share of accepted positives found": summary.cell(*row, "recall", form=SHARE),
    }
    for name, (found, among, which) in errors.items():
        places = [(*row, each) for each in (found, f"{found}_low", f"{found}_high", among)]
        rows[name] = summary.together(places, NUMBER, f"{INTERVAL} among {{}} {which}")
    rows["Does answering pay, against the manual review of every case?"] = summary.cell("verdict", "answering", "pays")
    rows["Saved per case by answering"] = summary.triple("verdict", "answering", "saved")
    rows["Does rejecting pay, against answering every case?"] = summary.cell("verdict", "rejecting", "pays")
    rows["Saved per case by rejecting"] = summary.triple("verdict", "rejecting", "saved")
    sentences = tuple(summary.cell("verdict", "conclusions", name) for name in summary.at("verdict", "conclusions"))
    brackets = words("Brackets: 95% intervals. Counts of several repetitions are their means.")
    other = "Whether answering and rejecting pay was asked of {}, which was not chosen."
    passed_over = summary.at("verdict", "chosen") != summary.at("verdict", "best_model")
    asked = (summary.cell("verdict", "best_model", text=other),) if passed_over else ()
    title = "How it did on held-out cases"
    return Section("performance", title, (facts(rows),), (words(_HELD_OUT), brackets, *asked, *sentences))


def groups(files: RunFiles) -> Section:
    """Cost, rejections and errors by segment, and who is served worse."""
    summary, title = files.summary, "Groups"
    columns = summary.at("segments", "columns")
    if not columns:
        return Section("groups", title, notes=(words("No groups were looked at: `recuse compare --by COLUMN` does."),))
    rows = []
    for column, segments in columns.items():
        for number in range(len(segments)):
            place = ("segments", "columns", column, number)
            limits = (summary.limits(*place, name, form=SHARE) for name in ("review", "error"))
            named = (summary.figure(*place, "column"), summary.figure(*place, "segment"))
            counts = tuple(summary.figure(*place, name, form=NUMBER) for name in ("positives", "cases"))
            rows.append((Cell(named, "{} = {}"), Cell(counts, "{} of {}"), summary.limits(*place, "cost"), *limits))
    warned = tuple(
        summary.cell("segments", "warnings", number, "text", text="Served worse: {}")
        for number in range(len(summary.at("segments", "warnings")))
    )
    method = summary.cell("segments", "method", text="These are figures of {}, on held-out cases.")
    rate = summary.cell(
        "segments",
        "rate",
        form=SHARE,
        text="Where all groups are served alike, any warning at all has a probability of {}.",
    )
    heads = ("group", "positives of cases", "cost per case", "rejected", "wrong among accepted")
    none = () if warned else (words("No group is served worse for certain; small groups show little."),)
    return Section("groups", title, (FactTable(heads, tuple(rows)),), (method, *warned, *none, rate))


def calibration(files: RunFiles) -> Section:
    """Whether probabilities mean what they say."""
    summary, title = files.summary, "Probabilities"
    place = ("reliability", files.run.at("winner"))
    if summary.at(*place) is None:
        text = "The run did not look at the probabilities of the method chosen, or it has none that mean anything."
        return Section("calibration", title, notes=(words(text),))
    rows = [
        (
            summary.cell(*place, "bins", number, "predicted", form=SHARE),
            summary.triple(*place, "bins", number, steps=("observed", "low", "high"), form=SHARE),
            summary.cell(*place, "bins", number, "counts", form=NUMBER),
        )
        for number in range(len(summary.at(*place, "bins")))
    ]
    error = facts({"Calibration error": summary.cell(*place, "error", form=NUMBER)})
    heads = ("mean probability", "share of positives", "cases")
    return Section("calibration", title, (error, FactTable(heads, tuple(rows))))


def guarantee(files: RunFiles) -> Section:
    """What is promised of the model, in the words that may be quoted."""
    summary, title = files.summary, "Guarantee"
    if summary.at("promise", "words") is None:
        return Section(
            "guarantee", title, notes=(words("The model was fitted to keep no promise, so that none was shown of it."),)
        )
    rows = {
        "In words that may be quoted": summary.cell("promise", "words"),
        "Does it hold?": summary.cell("promise", "holds"),
        "Cases that tested it": summary.cell("promise", "tested", form=NUMBER),
        "Of them accepted": summary.cell("promise", "accepted", form=NUMBER),
    }
    about = (
        "It is about the model in model.skops and cases drawn like those of the table. It loses its confidence if "
        "models are fitted again and again until it can be said."
    )
    return Section("guarantee", title, (facts(rows),), (words(about),))
