"""Outcomes of three classes or more: what is refused, and how they are said."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import preview, to_python

MOST_CLASSES = 50  # each with a row and a column of prices, and enough cases of its own
_MOST_FRACTIONS = 10  # different numbers that are not whole: more are amounts
_SHOWN = 6


def require_few_classes(classes: NDArray[Any], target: str, name: str) -> None:
    """Refuse a column of amounts, or of more classes than can be told apart and priced."""
    if classes.dtype.kind == "f" and len(classes) > _MOST_FRACTIONS:
        raise ValueError(
            f"{name}: the column {target!r} holds {len(classes):,} different numbers {preview(classes)}, amounts "
            "rather than outcomes: cut it into two bands or more, such as low, middle and high, and predict these."
        )
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"{name}: the column {target!r} holds {len(classes):,} different outcomes {preview(classes)}; up to "
            f"{MOST_CLASSES} can be compared: put rare ones together, cut numbers into bands, or name one of them with "
            "--positive (in Python, positive=), and the others are taken together."
        )


def rare_class_sentence(label: Any, count: int, least: int, target: str, name: str) -> str:
    """What to do about an outcome of too few cases, where there are others to put it together with."""
    cases = "1 case" if count == 1 else f"{count} cases"
    return (
        f"{name} has only {cases} with {target} = {to_python(label)!r}; at least {least} are needed: put it together "
        "with another outcome, or leave these rows out."
    )


def several_sentence(outcomes: NDArray[Any], target: str) -> str:
    """How outcomes of three classes or more are taken, with the frequent ones first."""
    classes, counts = np.unique(outcomes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = [f"{to_python(classes[k])!r} ({counts[k]:,})" for k in order[:_SHOWN]]
    rest = f" and {len(classes) - _SHOWN} more" if len(classes) > _SHOWN else ""
    return f"{target} is taken as {len(classes)} outcomes in {len(outcomes):,} cases, {', '.join(shown)}{rest}"


def other_way(label: Any) -> str:
    """How one of the outcomes would be taken against the others."""
    return f"--positive {shlex.quote(str(to_python(label)))} would take one against the rest"
