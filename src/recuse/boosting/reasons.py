"""Why a boosted pair answered or rejected a case, in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Evaluation
from ..labels import plain
from .additive import AdditiveForm

_NAMED = 3  # features named at most
_WORTH_NAMING = 0.005  # share below which 0 % would be said


def explain(model: Any, evaluation: Evaluation) -> list[str]:
    """One sentence a case; a rejection names the features that argued for it, with their shares."""
    pair, X = model._pair, evaluation.detail
    if pair.level is not None:
        level, boundary = pair.level + pair.threshold, float(pair.boundary(np.zeros(1))[0])
        sides = _sides(model, pair.form, X)
        return [
            by_score(model, h, r, level, boundary) + side
            for h, r, side in zip(evaluation.h, evaluation.r, sides, strict=True)
        ]
    if not isinstance(pair.form, AdditiveForm):
        return [_plain(model, h, r) for h, r in zip(evaluation.h, evaluation.r, strict=True)]
    h, r = pair.form.contributions(pair.inputs(X))
    start = pair.start(X)
    if start is not None:
        h, r = np.column_stack([h, start[0]]), np.column_stack([r, start[1]])
    names = feature_names(model, h.shape[1])
    return [
        _accepted(model, score, h[i], names) if accepted else _rejected(r[i], names)
        for i, (score, accepted) in enumerate(zip(evaluation.h, evaluation.accepted, strict=True))
    ]


def feature_names(model: Any, n: int) -> list[str]:
    """Names of the columns; a stacked score comes last."""
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{i}" for i in range(model.n_features_in_)] if known is None else [str(name) for name in known]
    return names + ["its own score"] * (n - len(names))


def _rejected(r: NDArray[np.float64], names: list[str]) -> str:
    against = np.maximum(-r, 0.0)
    total = against.sum()
    if total == 0.0:
        return "Rejected: nothing speaks for an answer."
    return f"Rejected: {shares(against, names)} of the case for rejection."


def _accepted(model: Any, score: float, h: NDArray[np.float64], names: list[str]) -> str:
    answer = plain(model.classes_[int(score > 0)])
    towards = np.maximum(h if score > 0 else -h, 0.0)
    if towards.sum() == 0.0:
        return f"Answered {answer!r}, as most cases are."
    return f"Answered {answer!r}: {shares(towards, names)} of the case for it."


def shares(amounts: NDArray[np.float64], names: list[str]) -> str:
    """Name the largest amounts with their shares of the whole."""
    total = amounts.sum()
    top = [i for i in np.argsort(-amounts, kind="stable")[:_NAMED].tolist() if amounts[i] >= _WORTH_NAMING * total]
    said = [f"{names[i]} {amounts[i] / total:.0%}" for i in top]
    rest = np.count_nonzero(amounts >= _WORTH_NAMING * total) - len(top)
    if rest:
        said.append(f"{rest} other{'s' if rest > 1 else ''} {1 - amounts[top].sum() / total:.0%}")
    return ", ".join(said)


def by_score(model: Any, h: float, r: float, level: float, boundary: float) -> str:
    """Why a rule on one score, |h + boundary| <= level, rejected or answered a case."""
    low, high = -level - boundary, level - boundary
    if r <= 0:
        return f"Rejected: score {h:.3g} lies between {low:.3g} and {high:.3g}."
    said = f"Answered {plain(model.classes_[int(h > 0)])!r}: score {h:.3g} is "
    return said + (f"above {high:.3g}." if h + boundary > 0 else f"below {low:.3g}.")


def _sides(model: Any, form: Any, X: NDArray[Any]) -> list[str]:
    """What each feature of a case speaks for, class by class."""
    if not isinstance(form, AdditiveForm):
        return [""] * len(X)
    h, _ = form.contributions(X)
    names = feature_names(model, h.shape[1])
    first, second = (repr(plain(label)) for label in model.classes_)
    said = []
    for row in h:
        sides = [
            f" For {label}: {shares(amounts, names)}."
            for label, amounts in ((second, np.maximum(row, 0.0)), (first, np.maximum(-row, 0.0)))
            if amounts.any()
        ]
        said.append("".join(sides))
    return said


def _plain(model: Any, h: float, r: float) -> str:
    if r > 0:
        return f"Answered {plain(model.classes_[int(h > 0)])!r}: acceptance score {r:.2f} is above 0."
    return f"Rejected: acceptance score {r:.2f} is not above 0."
