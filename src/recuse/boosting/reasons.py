"""Why a boosted model answered or rejected a case, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Floats
from ..decisions import Evaluation, StatedThresholds
from ..labels import to_python

_NAMED = 3  # features named at most
_WORTH_NAMING = 0.005  # a smaller share would be shown as 0 %


def explain_contributions(model: Any, evaluation: Evaluation, h: Floats, r: Floats) -> list[str]:
    """One sentence per case from what each feature adds to h and to r, beyond what it adds to an average case.

    A rejection names the features that make the case harder than others, whatever the intercept says of all cases.
    """
    names = names_by_case(model, h.shape[1], evaluation.detail)
    return [
        _accepted(model, score, h[i], names(i)) if accepted else _rejected(r[i], names(i))
        for i, (score, accepted) in enumerate(zip(evaluation.h, evaluation.accepted, strict=True))
    ]


def explain_acceptance(model: Any, evaluation: Evaluation) -> list[str]:
    """One sentence per case from its acceptance score, for models that are not a sum over features."""
    return [_by_acceptance(model, h, r) for h, r in zip(evaluation.h, evaluation.r, strict=True)]


def explain_score(
    model: Any,
    evaluation: Evaluation,
    low: float,
    high: float,
    contributions: Floats | None,
    extra: str = "its own score",
) -> list[str]:
    """One sentence per case for a rule on one score h: the first class below `low`, the second above `high`.

    The sentence gives the score towards the positive class. `contributions` is what each feature adds to h, beyond what
    it adds to an average case; a column after those of the features is called `extra`.
    """
    stated, lower, upper = stated_score(model, low, high)
    first, second = (repr(to_python(label)) for label in model.classes_)
    against, towards, sign = (second, first, -1.0) if _first_is_positive(model) else (first, second, 1.0)
    detail = evaluation.detail[0] if isinstance(evaluation.detail, tuple) else evaluation.detail
    names = names_by_case(model, 0 if contributions is None else contributions.shape[1], detail, extra)
    sentences = []
    for i, (h, accepted) in enumerate(zip(evaluation.h, evaluation.accepted, strict=True)):
        where = f"lies between {lower:.3g} and {upper:.3g}"
        if accepted:
            where = f"is above {upper:.3g}" if sign * h > 0 else f"is not above {lower:.3g}"
        said = f"score {sign * h:.3g} {stated.removeprefix('score ')} {where}"
        if contributions is not None:
            amounts = sign * contributions[i]
            said += for_class(towards, amounts, names(i)) + for_class(against, -amounts, names(i))
        sentences.append(said)
    return sentences


def stated_score(model: Any, low: float, high: float) -> StatedThresholds:
    """Thresholds of h, from the side of the positive class."""
    if low > high:  # nothing is rejected: only the boundary between the classes counts
        low = high = 0.0
    lower, upper = (-high, -low) if _first_is_positive(model) else (low, high)
    return StatedThresholds(f"score towards {to_python(model.pos_label_)!r}", float(lower), float(upper))


def _first_is_positive(model: Any) -> bool:
    return bool(model.pos_label_ == model.classes_[0])


def for_class(label: str, amounts: Floats, names: list[str]) -> str:
    """What speaks for one class."""
    amounts = np.maximum(amounts, 0.0)
    return f"; for {label}: {shares(amounts, names)}" if amounts.any() else ""


def feature_names(model: Any, n: int, extra: str = "its own score") -> list[str]:
    """Names of the columns, then of the pair terms; a score that is added to them comes last."""
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{i}" for i in range(model.n_features_in_)] if known is None else [str(name) for name in known]
    names += [surface.name(names) for surface in getattr(model, "interaction_functions_", ())]
    return names + [extra] * (n - len(names))


def names_by_case(model: Any, n: int, X: Any, extra: str = "its own score") -> Callable[[int], list[str]]:
    """A function that returns the names of the columns for a case; of a category with its level, "region = north"."""
    shared, levels = feature_names(model, n, extra), getattr(model, "categories_", {})
    if not levels:
        return lambda i: shared

    def of_case(i: int) -> list[str]:
        names = list(shared)
        for f, known in levels.items():
            code = X[i, f]
            names[f] += " missing" if np.isnan(code) else f" = {known[int(code)]}"
        return names

    return of_case


def _rejected(r: Floats, names: list[str]) -> str:
    against = np.maximum(-r, 0.0)
    if not against.any():
        return "no feature makes this case harder than the average one, which would be rejected too"
    return f"{shares(against, names)} of what makes this case harder than the average one"


def _accepted(model: Any, score: float, h: Floats, names: list[str]) -> str:
    answer = to_python(model.classes_[int(score > 0)])
    towards = np.maximum(h if score > 0 else -h, 0.0)
    if not towards.any():
        return f"{answer!r} is the default, and no feature argues against it strongly enough"
    return f"{shares(towards, names)} of the case for {answer!r}"


def shares(amounts: Floats, names: list[str]) -> str:
    """Name the largest amounts with their shares of the whole."""
    total = amounts.sum()
    top = [i for i in np.argsort(-amounts, kind="stable")[:_NAMED].tolist() if amounts[i] >= _WORTH_NAMING * total]
    said = [f"{names[i]} {amounts[i] / total:.0%}" for i in top]
    rest = np.count_nonzero(amounts >= _WORTH_NAMING * total) - len(top)
    if rest:
        said.append(f"{rest} other{'s' if rest > 1 else ''} {1 - amounts[top].sum() / total:.0%}")
    return ", ".join(said)


def _by_acceptance(model: Any, h: float, r: float) -> str:
    if r > 0:
        return f"acceptance score {r:.2f} is above 0: {to_python(model.classes_[int(h > 0)])!r}"
    return f"acceptance score {r:.2f} is not above 0"
