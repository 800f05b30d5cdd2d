"""A task for a reviewer, and what comes back of it, whatever the format of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What a reviewer may see of the model's answer. Not whether it was accepted: that would mark the audit.
MODEL_ANSWER = {"suggested": "forced", "suggested_because": "because", "probability": "probability", "reason": "reason"}


@dataclass(frozen=True)
class GivenTask:
    """What a reviewer sees.

    Attributes
    ----------
    task : str
        Its identity, which tells nothing about the case.
    shown : dict of str to str
        Columns of the case.
    answer : dict or None
        Suggested class, probability and reason; None where the packet is blind.
    """

    task: str
    shown: Mapping[str, str]
    answer: Mapping[str, Any] | None


@dataclass(frozen=True)
class ReturnedTask:
    """What came back.

    Attributes
    ----------
    where : str
        File and row, for messages.
    task, verdict : str
        Identity and class as written; an empty verdict is none yet.
    shown : dict of str to str
        Columns of the case as they came back; those that did not are missing.
    reviewer, reviewed_at, note : str
        As far as the file says; empty otherwise.
    """

    where: str
    task: str
    verdict: str
    shown: Mapping[str, str]
    reviewer: str = ""
    reviewed_at: str = ""
    note: str = ""


def why_suggested(answers: Sequence[Mapping[str, Any]], positive: Any, prices: Mapping[str, float]) -> str | None:
    """From which probability on the positive class is the cheaper answer: at 0.155 it looks wrong otherwise.

    None where that is one half, or not how these answers came about.
    """
    cut = prices["fp"] / (prices["fp"] + prices["fn"]) if "fp" in prices else 0.5
    if cut == 0.5 or any(answer.get("probability") is None for answer in answers):
        return None
    for answer in answers:
        far = abs(answer["probability"] - cut) > 1e-5  # the file has six digits
        if far and (answer["probability"] > cut) != (answer["forced"] == positive):
            return None
    return f"from a probability of {cut:.2g} on, {str(positive)!r} is the cheaper answer"


def visible_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the model's answer that a reviewer sees in a packet that is not blind."""
    return {name: answer[source] for name, source in MODEL_ANSWER.items() if answer.get(source) is not None}
