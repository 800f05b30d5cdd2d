"""What the pages of all experiments share: tables, claims and the line on how to run them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from .means import Tally

YES, PARTLY, NO, NOT_SETTLED, NOT_MEASURED = "yes", "partly", "no", "not settled", "not measured"
SIGNIFICANT = 0.05  # a count of data sets whose sign test has a lower p-value is not put down to chance
SIGN_TEST_NOTE = (
    "Where a claim counts data sets, p is that of the two-sided sign test (ties left out): how often tossing a coin "
    "for each data set gives a count at least as uneven. Such a claim is reproduced only if p is below "
    f"{SIGNIFICANT:g}. It is not reproduced if it holds on fewer data sets than the paper says, or fails on most with "
    "such a p; anything else is not settled."
)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, what was measured here, and whether the two agree."""

    text: str
    evidence: str
    verdict: str


def verdict(held: bool) -> str:
    """Whether a claim is reproduced, where it holds or does not."""
    return YES if held else NO


def significant(tally: Tally) -> bool:
    """Whether a count of data sets is more uneven than a coin would make it."""
    return tally.p_value < SIGNIFICANT


def tally_verdict(tally: Tally, claimed: int | None = None) -> str:
    """Whether a claim that counts data sets is reproduced.

    Parameters
    ----------
    tally : Tally
        On how many data sets it holds and fails.
    claimed : int, optional
        The number of data sets on which the paper says it holds; without it, most of them.
    """
    if not tally.total:
        return NOT_MEASURED
    if claimed is not None and tally.held < claimed:
        return NO
    if not significant(tally):
        return NOT_SETTLED
    return verdict(tally.held > tally.failed)


def tallies_verdict(tallies: Collection[Tally]) -> str:
    """Whether a claim against several rivals is reproduced: against all, against some, or against none of them."""
    settled = [tally.held > tally.failed for tally in tallies if significant(tally)]
    if not all(settled):
        return NO
    if not settled:
        return NOT_SETTLED
    return YES if len(settled) == len(tallies) else PARTLY


def judged(tally: Tally, supported: bool) -> str:
    """Whether a claim about several places is reproduced: at all or most of them, and only if it is supported.

    For claims that are settled by standard errors, where there are too few data sets for a sign test.
    """
    if not tally.total:
        return NOT_MEASURED
    if tally.held <= tally.failed:
        return NO
    if not supported:
        return NOT_SETTLED
    return YES if tally.held == tally.total else PARTLY


def tally_text(tally: Tally, words: bool = True) -> str:
    """A count of data sets with its sign test, with words where it may be chance if `words`."""
    ties = f", equal on {tally.tied}" if tally.tied else ""
    return f"on {tally.held} of {tally.total} sets{ties} ({p_text(tally, words)})"


def p_text(tally: Tally, words: bool = True) -> str:
    """The p-value of the sign test of a count, and what it means where it is large."""
    p = tally.p_value
    meaning = "" if p < SIGNIFICANT else ": may be chance" if p < 0.5 else ": a coin toss"
    return f"{'p < 0.001' if p < 0.001 else f'p = {p:.2g}'}{meaning if words else ''}"


def heading(experiment: str, text: str | None) -> list[str]:
    """How a page begins: the name of the experiment and the description of its protocol."""
    return [f"# reproduce {experiment}", "", (text or "").strip(), ""]


def table(header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Collection[int] = (0,)) -> list[str]:
    """A Markdown table; `text_columns` are aligned left, the others, which hold numbers, right."""
    rules = ["---" if column in text_columns else "---:" for column in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rules, *rows)]


def claims_table(claims: Iterable[Claim]) -> list[str]:
    """The claims of a paper as a Markdown table."""
    rows = [(claim.text, claim.evidence, claim.verdict) for claim in claims]
    return table(("claim of the paper", "measured here", "reproduced"), rows, text_columns=range(3))


def numbers(values: Iterable[float], form: str = "g") -> str:
    """Numbers separated by commas."""
    return ", ".join(f"{value:{form}}" for value in values)


def not_run(skipped: Sequence[str], missing: Sequence[str] = ()) -> list[str]:
    """What there was no time for, and what there were no data for, if anything."""
    told = {"for lack of time": skipped, "for lack of data": missing}
    return [line for why, parts in told.items() if parts for line in (f"Not run {why}: {'; '.join(parts)}.", "")]


def run_again(experiment: str, quick: bool) -> list[str]:
    """How a page ends: the command that makes it."""
    command = f"python -m recuse.reproduce {experiment}{' --quick' * quick} --out benchmarks/results"
    return [f"To run it again: `{command}` (the environment variable RECUSE_DATA names the data folder).", ""]
