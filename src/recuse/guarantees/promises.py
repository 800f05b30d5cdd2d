"""Promise: a risk and the level it is not to exceed, and the one spelling of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..parameters import check_number, check_share, is_number, typed_number, unknown_name, unmistakable
from .risks import RISKS, TWO_CLASSES, Risk

_SPELLING = re.compile(r"\s*(?P<risk>\w+)\s*(<=|≤)\s*(?P<level>[0-9.,eE+-]+)\s*(?P<percent>%?)\s*")

_BETWEEN = re.compile(r",(?=\s*[^\W\d])")  # before a number a comma is a decimal one


@dataclass(frozen=True)
class Promise:
    """A risk of the accepted cases that is to stay at or below a level.

    Parameters
    ----------
    risk : {"error", "cost", "misses", "false_alarms"}
        - "error": the share of accepted cases whose answer is wrong.
        - "cost": the mean price of the errors among accepted cases, in the currency of the prices.
        - "misses": the share of accepted positive cases that are answered as negative.
        - "false_alarms": the share of accepted negative cases that are answered as positive.
    level : float
        A share in (0, 1); of "cost" an amount per accepted case.

    Examples
    --------
    >>> from recuse.guarantees import Promise
    >>> Promise("error", 0.02)
    Promise('error', 0.02)
    >>> Promise.parse("misses <= 5 %") == Promise("misses", 0.05)
    True
    """

    risk: str
    level: float

    def __post_init__(self) -> None:
        if self.risk not in RISKS:
            raise ValueError(unknown_name("risk of a promise", str(self.risk), RISKS))
        if self.kind.is_share:
            check_share(f"the level of {self.risk!r}", self.level)
        else:
            check_number(f"the level of {self.risk!r}", self.level, 0.0, strict=True)

    @classmethod
    def parse(cls, text: str) -> Promise:
        """Read a promise as people write it: "error<=0.02", or in percent."""
        found = _SPELLING.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is no promise: write a risk and a level, as 'error<=0.02'; there are {', '.join(RISKS)}."
            )
        try:
            level = typed_number(found["level"])
        except ValueError as error:
            raise ValueError(f"{text!r} is no promise: {error}") from None
        risk, percent = found["risk"], bool(found["percent"])
        if risk in RISKS and RISKS[risk].is_share and not percent and 1 <= level < 100:
            raise ValueError(
                f"{text!r} promises a share of cases, which is less than 1: write {risk}<={level:g}% if that is meant "
                f"in percent, or {risk}<={level / 100:g}."
            )
        return cls(risk, level / 100 if percent else level)

    @property
    def kind(self) -> Risk:
        """What the name of the risk stands for."""
        return RISKS[self.risk]

    def __str__(self) -> str:
        return f"{self.risk}<={unmistakable(self.level, 12)}"

    def __repr__(self) -> str:
        return f"Promise({self.risk!r}, {self.level!r})"


def as_promises(guarantee: Any) -> tuple[Promise, ...]:
    """The promises of a parameter: a number for an error rate, a text, a `Promise`, or several of them."""
    if isinstance(guarantee, Promise):
        return (guarantee,)
    if is_number(guarantee):
        check_share("guarantee", guarantee)
        return (Promise("error", float(guarantee)),)
    if isinstance(guarantee, str):
        return tuple(Promise.parse(part) for part in _BETWEEN.split(guarantee))
    if isinstance(guarantee, Sequence) and len(guarantee):
        found = tuple(promise for part in guarantee for promise in as_promises(part))
        twice = {promise.risk for promise in found if sum(other.risk == promise.risk for other in found) > 1}
        if twice:
            raise ValueError(f"guarantee={guarantee!r} promises {min(twice)!r} twice: give one level for each risk.")
        return found
    raise TypeError(
        f"guarantee must be a level such as 0.02, a text such as 'error<=0.02', a Promise, or a list of them; got "
        f"{guarantee!r}."
    )


def check_promises(promises: tuple[Promise, ...], n_classes: int) -> None:
    """Refuse promises that are not defined for three or more classes."""
    for promise in promises:
        if n_classes > 2 and promise.risk in TWO_CLASSES:
            raise ValueError(
                f"guarantee={str(promise)!r} knows a positive class, and y has {n_classes} classes: promise 'error'."
            )
