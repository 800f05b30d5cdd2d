"""Why a boosted model answered or rejected a case, in one sentence."""

from __future__ import annotations

from typing import Any

from ..decisions import Evaluation, StatedThresholds
from ..labels import to_python


def explain_acceptance(model: Any, evaluation: Evaluation) -> list[str]:
    """One sentence per case from its acceptance score, for models that are not a sum over features."""
    return [_by_acceptance(model, h, r) for h, r in zip(evaluation.h, evaluation.r, strict=True)]


def explain_score(model: Any, evaluation: Evaluation, low: float, high: float) -> list[str]:
    """One sentence per case for a rule on one score h: the first class below `low`, the second above `high`.

    The sentence gives the score towards the positive class.
    """
    stated, lower, upper = stated_score(model, low, high)
    towards, sign = stated.removeprefix("score "), -1.0 if _first_is_positive(model) else 1.0
    sentences = []
    for h, accepted in zip(evaluation.h, evaluation.accepted, strict=True):
        where = f"lies between {lower:.3g} and {upper:.3g}"
        if accepted:
            where = f"is above {upper:.3g}" if sign * h > 0 else f"is not above {lower:.3g}"
        sentences.append(f"score {sign * h:.3g} {towards} {where}")
    return sentences


def stated_score(model: Any, low: float, high: float) -> StatedThresholds:
    """Thresholds of h, from the side of the positive class."""
    if low > high:  # nothing is rejected: only the boundary between the classes counts
        low = high = 0.0
    lower, upper = (-high, -low) if _first_is_positive(model) else (low, high)
    return StatedThresholds(f"score towards {to_python(model.pos_label_)!r}", float(lower), float(upper))


def _first_is_positive(model: Any) -> bool:
    return bool(model.pos_label_ == model.classes_[0])


def feature_names(model: Any) -> list[str]:
    """Names of the columns."""
    known = getattr(model, "feature_names_in_", None)
    return [f"x{i}" for i in range(model.n_features_in_)] if known is None else [str(name) for name in known]


def _by_acceptance(model: Any, h: float, r: float) -> str:
    if r > 0:
        return f"acceptance score {r:.2f} is above 0: {to_python(model.classes_[int(h > 0)])!r}"
    return f"acceptance score {r:.2f} is not above 0"
