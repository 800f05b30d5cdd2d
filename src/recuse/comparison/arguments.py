"""How a comparison was run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .promising import Pledge

_LOOKED_AT = ("repeats", "by", "policy", "policy_words", "volume", "promise", "confidence", "promise_groups", "read")
ARRAY = "(array)"  # the name of groups that are not a column of the table


@dataclass(frozen=True)
class RunArguments:
    """How a comparison was run.

    Attributes
    ----------
    cv : int
        Folds.
    repeats : int or "auto"
        Repetitions with other folds that were asked for.
    seed : int
        Random state of folds, methods and intervals.
    drop : list of str
        Columns left out.
    groups : str or None
        Column with the groups, `ARRAY` if they were not a column.
    time : str or None
        Column with the time, if folds test on what came after.
    novelty : str
        Whether cases far outside the training range are rejected.
    by : list of str
        Columns whose segments are looked at.
    policy : str or None
        Column with what is decided today.
    policy_words : dict of str to list of str
        What is written there for yes, no and review, in other words than these.
    volume : dict or None
        How many cases there are in a period, and what reviewing them takes.
    promise : str or None
        What is promised of the model that is fitted at the end.
    confidence : float or None
        Confidence of the promise.
    promise_groups : str or None
        Column in each of whose groups it is to hold.
    read : dict
        What was said of how to read the file of the table, such as what means unknown; the rest was found out.
    """

    cv: int
    repeats: int | str
    seed: int
    drop: list[str]
    groups: str | None = None
    time: str | None = None
    novelty: str = "range"
    by: list[str] = field(default_factory=list)
    policy: str | None = None
    volume: dict[str, Any] | None = None
    promise: str | None = None
    confidence: float | None = None
    promise_groups: str | None = None
    read: dict[str, Any] = field(default_factory=dict)
    policy_words: dict[str, list[str]] = field(default_factory=dict)

    @property
    def pledge(self) -> Pledge | None:
        """The promise and its confidence."""
        return Pledge.of(self.promise, self.confidence, self.promise_groups)

    def as_dict(self) -> dict[str, Any]:
        """The arguments by name, as in run.json."""
        return asdict(self)

    def of_folds(self) -> dict[str, Any]:
        """What the answers of a fold depend on: not how often folds are drawn again, nor what is looked at after."""
        return {name: value for name, value in self.as_dict().items() if name not in _LOOKED_AT}
