"""What the pages of all experiments share: tables, claims and the line on how to run them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

YES, PARTLY, NO, NOT_MEASURED = "yes", "partly", "no", "not measured"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, what was measured here, and whether the two agree."""

    text: str
    evidence: str
    verdict: str


def verdict(held: bool) -> str:
    """Whether a claim is reproduced, where it holds or does not."""
    return YES if held else NO


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


def not_run(skipped: Sequence[str]) -> list[str]:
    """What there was no time for, if anything."""
    return [f"Not run for lack of time: {'; '.join(skipped)}.", ""] if skipped else []


def run_again(experiment: str, quick: bool) -> list[str]:
    """How a page ends: the command that makes it."""
    command = f"python -m recuse.reproduce {experiment}{' --quick' * quick} --out benchmarks/results"
    return [f"To run it again: `{command}` (the environment variable RECUSE_DATA names the data folder).", ""]
