"""Sections of the card of a model file without a run: what the file says, and what only a run would know."""

from __future__ import annotations

from .describing import ABOUT_PRICES, ABOUT_REJECTING, PRICES, edits, thresholds
from .figures import NUMBER, SHARE, FactTable, Section, facts, words
from .model_file import FittedModel

_NO_RUN = (
    "The card is that of a model file. Of the table it was fitted on the file keeps the columns and how they are read, "
    "and no figures."
)
_COMPARE = "`recuse compare` finds it out of a method, and a card of its run says it."


def sections(files: FittedModel) -> tuple[Section, ...]:
    """Everything but the purpose and what the log of reviews says."""
    return (
        _data(files),
        _prices(files),
        _model(files),
        _performance(files),
        Section("groups", "Groups", notes=(words(f"No groups were looked at. {_COMPARE}"),)),
        Section("calibration", "Probabilities", notes=(words(f"Nobody looked at the probabilities. {_COMPARE}"),)),
        _guarantee(files),
    )


def limits(files: FittedModel, log: bool) -> Section:
    """What was not looked at."""
    lacking = {
        "No groups were looked at: whether some are served worse is not known.": True,
        "No other method was tried for this card: whether answering and rejecting pay is not known.": True,
        "No log of reviews was given: how the model is used, reviewed and overridden is not known.": not log,
        "Figures are about cases like those of the table. What follows from an answer, for a person, is in none.": True,
        "Text that only the owner can state is repeated as it was given, and was not checked.": True,
    }
    return Section(
        "limits", "What was not looked at", notes=tuple(words(text) for text, holds in lacking.items() if holds)
    )


def _data(files: FittedModel) -> Section:
    rows = {"Outcomes": files.model.cell("classes"), "Positive outcome": files.model.cell("positive")}
    names = files.model.at("columns") or {}
    columns = FactTable(
        ("column", "read as"), tuple((words(name), files.model.cell("columns", name)) for name in names)
    )
    return Section("data", "Data", (facts(rows), *([columns] if names else [])), (words(_NO_RUN),))


def _prices(files: FittedModel) -> Section:
    given = files.model.at("prices") or {}
    rows = {name: files.model.cell("prices", key, form=NUMBER) for key, name in PRICES.items() if key in given}
    return Section("prices", "Prices", (facts(rows),), (words(ABOUT_PRICES),))


def _model(files: FittedModel) -> Section:
    members = files.model.at("members") or {}
    weights = FactTable(
        ("member of the ensemble", "weight"),
        tuple((words(title), files.model.cell("members", title, form=SHARE)) for title in members),
    )
    notes = (words(ABOUT_REJECTING), *edits(files.model))
    tables = (facts(thresholds(files.model)), *([weights] if members else []))
    return Section("model", "Model and thresholds", tables, notes)


def _performance(files: FittedModel) -> Section:
    title = "How it did on held-out cases"
    if files.model.at("held_out") is None:
        return Section("performance", title, notes=(words(f"The file keeps no figures. {_COMPARE}"),))
    rows = {
        "Cost per case": files.model.cell("held_out", "cost", form=NUMBER),
        "Coverage: share of the cases accepted": files.model.cell("held_out", "coverage", form=SHARE),
    }
    about = (
        "Members, weights and thresholds did not see the cases that they are judged on. The file keeps no interval, "
        "and what is in it was fitted on all cases afterwards."
    )
    return Section("performance", title, (facts(rows),), (words(about), words(_COMPARE)))


def _guarantee(files: FittedModel) -> Section:
    if files.model.at("promise") is None:
        none = "The model was fitted to keep no promise, so that none was shown of it."
        return Section("guarantee", "Guarantee", notes=(words(none),))
    rows = {
        "What was promised": files.model.cell("promise"),
        "Confidence": files.model.cell("confidence", form=NUMBER),
    }
    return Section("guarantee", "Guarantee", (facts(rows),))
