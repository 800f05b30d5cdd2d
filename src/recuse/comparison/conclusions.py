"""The verdict in sentences: the same on the terminal, in JSON and in the report."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.html import as_count
from .intervals import Interval, decimals_of
from .leaderboard import Row
from .methods import ENSEMBLE
from .verdict import NO, UNCLEAR, YES, Saving, Verdict

_PAYS = {YES: "{} pays", NO: "{} does not pay", UNCLEAR: "Whether {} pays is not settled"}
_WOULD_PAY = {YES: "{} would pay", NO: "{} would not pay", UNCLEAR: "it is not settled whether {} would pay"}


def conclude(verdict: Verdict, rows: Mapping[str, Row], n_models: int) -> dict[str, str]:
    """Return one sentence for each question: which method, does answering pay, does rejecting pay.

    Parameters
    ----------
    verdict : Verdict
        What was concluded.
    rows : mapping of str to Row
        The leaderboard by method, the cheapest first.
    n_models : int
        How many models there were to choose from.
    """
    return {
        "method": _method(verdict, rows, n_models),
        "answering": _answering(verdict, rows),
        "rejecting": _rejecting(verdict, rows),
    }


def _method(verdict: Verdict, rows: Mapping[str, Row], n_models: int) -> str:
    title, cost = rows[verdict.chosen].title, str(verdict.cost)
    if verdict.model_chosen:
        chosen = f", corrected for the choice among {n_models} methods" if n_models > 1 else ""
        return f"Use {title}: it costs {cost} per case{chosen}.{_why_not_the_cheapest(rows[verdict.chosen], rows)}"
    best = rows[verdict.best_model].title
    saves = f"It {_saves(verdict.constant.saved, repr(title))}.{_why_not_the_cheapest(rows[verdict.best_model], rows)}"
    signal = verdict.signal
    if verdict.found_signal:
        return (
            f"Nothing beats {title!r} for certain at these prices: it costs {cost} per case, and {best}, the method "
            f"that would be chosen, is not convincingly cheaper. {saves} There is a signal: when it must answer every "
            f"case, {rows[signal.rule].title} {_saves(signal.saved, repr(rows[signal.against].title))}."
        )
    forced = (
        "" if signal.against == verdict.chosen else f", nor than {rows[signal.against].title!r} when it must answer"
    )
    return (
        f"No signal found: {best}, the method that would be chosen, is not convincingly cheaper than {title!r}, which "
        f"costs {cost} per case{forced}. {saves}"
    )


def _why_not_the_cheapest(chosen: Row, rows: Mapping[str, Row]) -> str:
    """Which row was cheaper than the method chosen, and by how little; empty if none was."""
    if chosen.difference is None or chosen.difference.value <= 0:
        return ""
    cheapest = next(iter(rows.values()))
    return (
        f" In this run {cheapest.title} cost {chosen.difference} less, which is within one standard "
        f"error, and {'no reason to do without the others' if chosen.name == ENSEMBLE else 'it is less simple'}."
    )


def _answering(verdict: Verdict, rows: Mapping[str, Row]) -> str:
    best = rows[verdict.best_model]
    subject = best.title if verdict.model_chosen else "it"
    nothing = "answers no case and " if best.coverage == 0 else ""
    saves = _saves(verdict.answering.saved, "the manual review of every case")
    return f"{_heading(verdict.answering, 'answering', verdict, best)}: {subject} {nothing}{saves}."


def _rejecting(verdict: Verdict, rows: Mapping[str, Row]) -> str:
    saving, best = verdict.rejecting, rows[verdict.best_model]
    heading = _heading(saving, "rejecting", verdict, best)
    subject = best.title if verdict.model_chosen else "it"
    if saving.rule == saving.against:
        return f"{heading}: no method rejected a case."
    if saving.rule != verdict.best_model:
        return (
            f"{heading}: {subject} answers every case; the cheapest method that rejects, {rows[saving.rule].title}, "
            f"{_saves(saving.saved, 'it')}."
        )
    model_cost, forced_cost = verdict.model_cost.value, verdict.forced_cost.value
    decimals = decimals_of(model_cost, forced_cost)
    return (
        f"{heading}: by sending {1 - best.coverage:.1%} of the cases to manual review{_of_all(best)}, {subject} "
        f"{_saves(saving.saved, 'itself when it must answer every case')} (it costs "
        f"{model_cost:,.{decimals}f}, and {forced_cost:,.{decimals}f} then)."
    )


def _of_all(row: Row) -> str:
    counts = row.counts
    return "" if counts is None else f" ({as_count(counts.rejected)} of {as_count(counts.answered + counts.rejected)})"


def _heading(saving: Saving, what: str, verdict: Verdict, best: Row) -> str:
    if not verdict.model_chosen:  # not advice, but what would hold for the method that was not chosen
        return f"If {best.title} were used, {_WOULD_PAY[saving.pays].format(what)}"
    text = _PAYS[saving.pays].format(what)
    return text[0].upper() + text[1:]


def _saves(saved: Interval, other: str) -> str:
    if saved.value >= 0:
        return f"saves {saved} per case against {other}"
    return f"costs {-saved} more per case than {other}"
