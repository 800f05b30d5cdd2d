"""A comparison as a dict of plain numbers and texts: everything the page shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..ensemble import EnsembleRejectClassifier
from ..guarantees.record import rejects_everything
from ..labels import to_python
from ..locating import locate
from ..metrics import ks_score
from ..tables import table_hints
from .class_summary import guess_heads, guesses, methods_of_classes, policy_matrix, shared_of_classes
from .inputs import ReportedComparison
from .methods import followed
from .operating_points import count_answers
from .probabilities import reliability_section
from .segments import segments_section

SHOWN_CASES = 500
SHOWN_COLUMNS = 6
SHOWN_SHAPES = 8
FREQUENT = 0.05  # a value of a text column is looked at by itself if at least this share of the cases has it
_FEW_CASES = 5


class Material(NamedTuple):
    """What the sections are made from.

    Sections that describe a method, its cases and segments, describe the model chosen among the models, also where an
    answer that is the same for every case is kept: that one treats all cases alike, and there is nothing to describe.
    """

    comparison: ReportedComparison
    model: Any
    differences: list[dict[str, Any]]


def summarize(comparison: ReportedComparison, model: Any) -> dict[str, Any]:
    """Return everything the page shows, ready for JSON.

    Parameters
    ----------
    comparison : ReportedComparison
        A finished run.
    model : Pipeline
        Its winner, fitted on all cases.

    Returns
    -------
    dict
        The keys of `SECTIONS`, and what several sections share: prices, classes, number of cases, winner.
    """
    material = Material(comparison, model, _differences(comparison))
    return _shared(comparison) | {name: fill(material) for name, fill in SECTIONS.items()}


def _shared(comparison: ReportedComparison) -> dict[str, Any]:
    if comparison.cases.several:
        return shared_of_classes(comparison)
    costs, cases = comparison.costs, comparison.cases
    return {
        "name": cases.name,
        "target": cases.target,
        "classes": [str(label) for label in cases.classes],
        "n_cases": len(cases.outcomes),
        "n_positive": int(comparison.positive.sum()),
        "prices": {
            "fp": costs.fp,
            "fn": costs.fn,
            "reject": costs.reject_negative,
            "reject_ratio": costs.reject_positive / costs.reject_negative,
            # None: rejecting as a novelty costs what rejecting the case as ambiguous costs.
            "novelty_ratio": None if costs.reject_novelty is None else costs.reject_novelty / costs.reject_negative,
        },
        "winner": comparison.verdict.chosen,
        "novelties": any((answers.kind == 2).any() for answers in comparison.answers.values()),
    }


def _verdict(material: Material) -> dict[str, Any]:
    verdict = material.comparison.verdict
    return {
        "chosen": verdict.chosen,
        "best_model": verdict.best_model,
        "found_signal": verdict.found_signal,
        "cost": list(verdict.cost),
        "model_cost": list(verdict.model_cost),
        "forced_cost": list(verdict.forced_cost),
        "answering": {"pays": verdict.answering.pays, "saved": list(verdict.answering.saved)},
        "rejecting": {
            "rule": verdict.rejecting.rule,
            "pays": verdict.rejecting.pays,
            "saved": list(verdict.rejecting.saved),
        },
        "constant": {"saved": list(verdict.constant.saved)},
        "signal": {"saved": list(verdict.signal.saved)},
        "reviewing_saved": list(material.comparison.reviewing_saved),
        "shares": dict(verdict.shares),
        "conclusions": material.comparison.conclusions,
    }


def _leaderboard(material: Material) -> list[dict[str, Any]]:
    return [{key: _jsonable(value) for key, value in row.as_dict().items()} for row in material.comparison.rows]


def _methods(material: Material) -> list[dict[str, Any]]:
    comparison = material.comparison
    if comparison.cases.several:
        return methods_of_classes(comparison)
    return [
        {"name": row.name, "title": row.title, "reference": row.reference, **followed(comparison, row.name)}
        for row in comparison.rows
        if row.name in comparison.answers
    ]


def _rejected_cases(material: Material) -> dict[str, Any]:
    """The rejected cases of the method shown, the least certain first, with the columns in which they differ most."""
    comparison = material.comparison
    columns = [item["column"] for item in material.differences[:SHOWN_COLUMNS]]
    answers = comparison.answers_of(comparison.verdict.best_model)
    rejected = np.flatnonzero(~answers.accepted[0])
    shown = rejected[np.argsort(answers.r[0][rejected], kind="stable")][:SHOWN_CASES]
    features, numbers = comparison.cases.features, comparison.cases.case_numbers
    rows = [
        [
            int(numbers[case]),
            ("", "ambiguous", "unlike any seen")[answers.kind[0][case]],
            *guesses(comparison, answers, case),
            str(to_python(comparison.cases.outcomes[case])),
            round(float(answers.r[0][case]), 6),
            answers.reason[case],
            *(_cell(features[column].iloc[case]) for column in columns),
        ]
        for case in shown.tolist()
    ]
    return {
        "columns": [
            *("Case", "Why it was rejected", *guess_heads(comparison), "Outcome", "Acceptance score", "Reason"),
            *columns,
        ],
        "rows": rows,
        "total": len(rejected),
        "ordered": len(rejected) < 2 or float(np.ptp(answers.r[0][rejected])) > 0,
    }


def _differences(comparison: ReportedComparison) -> list[dict[str, Any]]:
    """Columns in which the rejected cases differ most from the others, strongest first."""
    answers = comparison.answers_of(comparison.verdict.best_model)
    rejected = ~answers.accepted[0]
    features = comparison.cases.features
    if rejected.all() or not rejected.any():
        return [{"column": name, "strength": None, "accepted": "", "rejected": ""} for name in features.columns]
    found = [_difference(features[name], rejected) for name in features.columns]
    return sorted((item for item in found if item is not None), key=lambda item: -item["strength"])


def _difference(column: Any, rejected: Flags) -> dict[str, Any] | None:
    """How a column differs between the two groups; None if its values hardly repeat, which shows nothing."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        compared = _compare_numbers(column.to_numpy(dtype="datetime64[s]").astype(np.float64), column.isna(), rejected)
        strength, shown = compared[0], [_day(middle) for middle in compared[1]]
    elif pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
        compared = _compare_numbers(column.to_numpy(dtype=np.float64, na_value=np.nan), column.isna(), rejected)
        strength, shown = compared[0], [_cell(middle) for middle in compared[1]]
    else:
        text = column.astype("object").where(column.notna(), "(empty)").astype(str)
        counts = text.value_counts()
        frequent = counts.index[counts >= max(_FEW_CASES, FREQUENT * len(text))]
        if len(frequent) == 0:
            return None
        # Rare values taken one by one would differ between any two groups.
        shares = pd.crosstab(text.where(text.isin(frequent), "(rarer values)"), rejected, normalize="columns")
        strength = float((shares[True] - shares[False]).abs().sum() / 2)
        value = (shares[True] - shares[False]).idxmax()
        shown = [f"{value}: {shares.loc[value, part]:.0%}" for part in (False, True)]
    return {"column": str(column.name), "strength": float(strength), "accepted": shown[0], "rejected": shown[1]}


def _compare_numbers(values: Floats, missing: Any, rejected: Flags) -> tuple[float, tuple[float, float]]:
    """Largest gap between the two distributions (missing values count as lowest), and the two medians."""
    values = np.where(missing, np.nan, values)
    filled = np.where(missing, np.nanmin(values) - 1, values)
    strength = max(ks_score(rejected, filled, pos_label=True), ks_score(rejected, -filled, pos_label=True))
    return strength, (_median(values[~rejected]), _median(values[rejected]))


def _day(seconds: float) -> str | None:
    return None if math.isnan(seconds) else str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _why(material: Material) -> dict[str, Any]:
    return {"differences": material.differences, **_shapes(material.comparison, material.model)}


def _shapes(comparison: ReportedComparison, model: Any) -> dict[str, Any]:
    """What each feature adds to the scores, if the winner is a sum over features; the strongest first.

    A model whose shape functions add nothing to r has no acceptance score of its own: r follows from h.
    """
    classifier = _behind_promise(model)
    several = len(getattr(classifier, "classes_", ())) > 2  # their scores have no one direction
    found = [] if several else getattr(classifier, "shape_functions_", None) or []
    # Towards the positive class, as everywhere on the page.
    sign = -1.0 if found and to_python(classifier.classes_[0]) == comparison.cases.positive else 1.0
    names = [str(name) for name in model[:-1].get_feature_names_out()] if found else []
    prepared = np.asarray(model[:-1].transform(comparison.cases.features), dtype=object) if found else np.zeros((0, 0))
    shapes = [
        {
            **_panel(shape, prepared),
            "feature": names[shape.feature] if shape.feature < len(names) else "score of the first booster",
            "cuts": np.asarray(shape.cuts, dtype=float).tolist(),
            "h": (sign * np.asarray(shape.h, dtype=float) + 0.0).tolist(),
            "r": np.asarray(shape.r, dtype=float).tolist(),
        }
        for shape in found
    ]
    strongest = sorted(shapes, key=lambda shape: -_moved(shape))
    return {
        "shapes": [shape for shape in strongest[:SHOWN_SHAPES] if _moved(shape) > 0],
        "n_shapes": len(shapes),
        "own_acceptance": any(any(shape["r"]) for shape in shapes),
        "stacked": bool(getattr(classifier, "score_functions_", None)),
        "pairs": [] if several else _pairs(getattr(classifier, "interaction_functions_", ()), names),
    }


def _pairs(surfaces: Sequence[Any], names: list[str]) -> list[str]:
    """Pairs of columns that act together, the strongest first."""
    strongest = sorted(surfaces, key=lambda surface: -_moved({"h": surface.h, "r": surface.r}))
    return [str(surface.name(names)) for surface in strongest]


def _moved(shape: dict[str, Any]) -> float:
    return float(max(np.ptp(shape["h"]), np.ptp(shape["r"])))


def _panel(shape: Any, prepared: NDArray[Any]) -> dict[str, Any]:
    """Range and marks of a panel: a place for each level of a category, else what the values reach over."""
    levels = [str(level) for level in getattr(shape, "levels", ())]
    if levels:
        places = [float(place) for place in range(len(levels))]
        return {"reach": [-0.5, len(levels) - 0.5], "values": places, "levels": levels}
    if shape.feature >= prepared.shape[1]:
        return _reach(np.zeros(0), shape.cuts) | {"levels": []}
    return _reach(prepared[:, shape.feature].astype(np.float64), shape.cuts) | {"levels": []}


def _reach(column: Floats, cuts: Any) -> dict[str, Any]:
    """Range of a panel: all but one value in 200 at either end, and the cuts. With two values, one half for each."""
    known = column[~np.isnan(column)]
    values = np.unique(known)
    if len(values) == 2:
        half = (values[1] - values[0]) / 2
        return {"reach": [float(values[0] - half), float(values[1] + half)], "values": values.tolist()}
    if len(values) < 2:
        return {"reach": None, "values": None}
    low, high = np.quantile(known, [0.005, 0.995])
    return {"reach": [float(min(low, *cuts)), float(max(high, *cuts))], "values": None}


def _data(material: Material) -> dict[str, Any]:
    comparison = material.comparison
    features = comparison.cases.features
    columns = [
        {
            "name": str(name),
            "type": str(features[name].dtype),
            "missing": int(features[name].isna().sum()),
            "distinct": int(features[name].nunique()),
        }
        for name in features.columns
    ]
    return {"columns": columns, "hints": table_hints(comparison.cases), "fingerprint": comparison.fingerprint}


def _settings(material: Material) -> dict[str, Any]:
    comparison, arguments = material.comparison, material.comparison.arguments
    warnings = sorted(
        f"{comparison.method(name).title}, {where}: {text}"
        for name, answers in comparison.answers.items()
        for text, where in answers.warnings.items()
    )
    return {
        "cv": arguments.cv,
        "repeats": comparison.n_repeats,
        "repeated": comparison.how_often_repeated,
        "seed": arguments.seed,
        "drop": list(arguments.drop),
        "folds": comparison.how_folds_were_made,
        "versions": comparison.versions,
        "warnings": warnings,
    }


def _cell(value: Any) -> Any:
    value = to_python(value)
    if value is None or value != value:
        return None
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, float):
        return float(f"{value:.6g}")  # as in the sentences
    return value if isinstance(value, int | str | bool) else str(value)


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else to_python(value)


def _behind_promise(model: Any) -> Any:
    """The classifier of a model, without the promise that may stand around it."""
    classifier, _ = locate(model)
    return getattr(classifier, "classifier_", classifier)


def _members(material: Material) -> list[dict[str, Any]]:
    """Members of the ensemble, where it is chosen: weights, what each adds, and what it would cost alone."""
    classifier = _behind_promise(material.model)
    if not isinstance(classifier, EnsembleRejectClassifier):
        return []
    shares = classifier.shares_
    return [
        {
            "title": member.title,
            "share": shares[member.title],
            "gain": classifier.gains_[member.name],
            "log_loss": classifier.held_out_log_loss_[member.name],
            "cost": classifier.held_out_costs_[member.name],
        }
        for member in sorted(classifier.members_, key=lambda member: -shares[member.title])
    ] + [
        {
            "title": "blend",
            "share": 1.0,
            "gain": None,
            "log_loss": classifier.held_out_log_loss_["blend"],
            "cost": classifier.held_out_costs_["blend"],
        }
    ]


def _reliability(material: Material) -> dict[str, Any]:
    return reliability_section(material.comparison)


def _policy(material: Material) -> dict[str, Any] | None:
    """Today's policy as an operating point of its own, and what the method chosen saves against it."""
    comparison = material.comparison
    today, saving, of_model = comparison.today, comparison.today_saving, comparison.model_saved_against_today
    if today is None or saving is None or of_model is None:
        return None
    return {
        "column": comparison.arguments.policy,
        "matrix": policy_matrix(comparison)
        if comparison.cases.several
        else count_answers(today.columns, comparison.positive).tolist(),
        "pays": saving.pays,
        "saved": list(saving.saved),
        "model_saved": list(of_model.saved),
    }


def _volume(material: Material) -> dict[str, Any] | None:
    return material.comparison.arguments.volume


def _promise(material: Material) -> dict[str, Any] | None:
    """What is promised of the model that was fitted at the end, in words that may be quoted."""
    guarantee = getattr(locate(material.model)[0], "guarantee_", None)
    if guarantee is None:
        return None
    return {
        "words": str(guarantee),
        "holds": guarantee.holds,
        "then": "" if guarantee.holds else rejects_everything(guarantee, "model.skops"),
        "tested": guarantee.n_calibration,
        "accepted": guarantee.n_accepted,
        "before": guarantee.n_before,
    }


def _segments(material: Material) -> dict[str, Any] | None:
    return segments_section(material.comparison, material.comparison.verdict.best_model)


# Key of the summary -> the function that fills it. Which section of the page shows which key, and in which order, is
# up to the template report.html: a new section needs an entry here and a part there.
SECTIONS: dict[str, Callable[[Material], Any]] = {
    "verdict": _verdict,
    "leaderboard": _leaderboard,
    "methods": _methods,
    "cases": _rejected_cases,
    "segments": _segments,
    "policy": _policy,
    "volume": _volume,
    "promise": _promise,
    "why": _why,
    "members": _members,
    "reliability": _reliability,
    "data": _data,
    "settings": _settings,
}
