"""A comparison as a dict of plain numbers and texts: everything the page shows."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Flags, Floats
from ..labels import to_python
from ..locating import locate
from ..metrics import ks_score
from ..tables import identifier_hints
from .operating_points import PAIR, PLAIN, Entries

if TYPE_CHECKING:
    from ..comparison.leaderboard import Row
    from ..comparison.result import Answers, Comparison

CURVE_POINTS = 150
SHOWN_CASES = 500
SHOWN_COLUMNS = 6
SHOWN_SHAPES = 8
FREQUENT = 0.05  # share of the cases from which on a value of a text column is looked at by itself
_FEW_CASES = 5
SEND_ALL = "send-all"

# Section of the page -> function that fills its key of the summary.
SECTIONS = ("verdict", "leaderboard", "methods", "cases", "why", "data", "settings")


def summarize(comparison: Comparison) -> dict[str, Any]:
    """Return everything the page shows, ready for JSON.

    Parameters
    ----------
    comparison : Comparison
        A finished run.

    Returns
    -------
    dict
        Keys: those of `SECTIONS`, and what several sections share (prices, classes, number of cases, winner).
    """
    costs = comparison.costs
    differences = _differences(comparison)
    return {
        "name": comparison.cases.name,
        "target": comparison.cases.target,
        "classes": [str(label) for label in comparison.cases.classes],
        "n_cases": len(comparison.cases.outcomes),
        "n_positive": int(comparison.positive.sum()),
        "prices": {
            "fp": costs.fp,
            "fn": costs.fn,
            "reject": costs.reject_negative,
            "reject_ratio": costs.reject_positive / costs.reject_negative,
            # None: a novelty costs what its class costs.
            "novelty_ratio": None if costs.reject_novelty is None else costs.reject_novelty / costs.reject_negative,
        },
        "winner": comparison.winner.name,
        "novelties": any((answers.kind == 2).any() for answers in comparison.answers.values()),
        "verdict": _verdict(comparison),
        "leaderboard": [_leaderboard_row(row) for row in comparison.rows],
        "methods": [_method(comparison, row) for row in comparison.rows if row.name in comparison.answers],
        "cases": _rejected_cases(comparison, [item["column"] for item in differences[:SHOWN_COLUMNS]]),
        "why": {"differences": differences, **_shapes(comparison)},
        "data": _data(comparison),
        "settings": _settings(comparison),
    }


def _verdict(comparison: Comparison) -> dict[str, Any] | None:
    gain = comparison.gain
    if gain is None:
        return None
    rejecting, reference, saved = gain
    pays = "yes" if saved.low > 0 else "no" if saved.high <= 0 else "unclear"
    return {
        "pays": pays,
        "rejecting": rejecting.name,
        "rejecting_title": rejecting.title,
        "reference": reference.name,
        "reference_title": reference.title,
        "saved": [saved.value, saved.low, saved.high],
        "cost": rejecting.cost.value if rejecting.cost else None,
        "reference_cost": reference.cost.value if reference.cost else None,
    }


def _leaderboard_row(row: Row) -> dict[str, Any]:
    return {key: _jsonable(value) for key, value in row.as_dict().items()}


def _method(comparison: Comparison, row: Row) -> dict[str, Any]:
    answers = comparison.answers[row.name]
    moves = PLAIN if row.reference else comparison.method(row.name).moves
    values = answers.r if moves == PAIR else answers.score
    entries = Entries.of(values, answers.fold, comparison.positive, answers.forced, answers.kind == 2)
    return {
        "name": row.name,
        "title": row.title,
        "reference": row.reference,
        "moves": moves,
        "matrix": _own_matrix(answers, comparison.positive).tolist(),
        "entries": entries.as_dict(),
        "curve": _curve(answers, comparison.positive),
    }


def _own_matrix(answers: Answers, positive: Flags) -> Floats:
    """Mean confusion matrix over the repetitions: rows negative and positive; columns no, yes, ambiguous and novel."""
    matrix = np.zeros((2, 4))
    column = np.where(answers.accepted, answers.forced, 1 + answers.kind)
    truth = np.broadcast_to(positive.astype(np.intp), column.shape)
    np.add.at(matrix, (truth, column), 1.0 / len(column))
    return matrix


def _curve(answers: Answers, positive: Flags) -> list[list[float]]:
    """Counts of accepted cases, by outcome and class, as the acceptance threshold falls: [tn, fp, fn, tp].

    Scores of all repetitions are cut at one threshold, as those of all folds are; counts are means over repetitions.
    """
    repeats, r = len(answers.r), answers.r.ravel()
    order = np.argsort(-r, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(r[order])), len(order) - 1)
    cells = np.tile(2 * positive.astype(np.intp), repeats) + (answers.forced.ravel() == 1)
    counts = np.cumsum(np.eye(4, dtype=np.int64)[cells[order]], axis=0)[ends]
    if len(counts) > CURVE_POINTS:
        accepted = counts.sum(axis=1)
        wanted = np.linspace(accepted[0], accepted[-1], CURVE_POINTS)
        counts = counts[np.unique(np.searchsorted(accepted, wanted))]
    found: list[list[float]] = (counts if repeats == 1 else counts / repeats).tolist()
    return found


def _rejected_cases(comparison: Comparison, columns: list[str]) -> dict[str, Any]:
    """The winner's rejected cases, the least sure first."""
    answers = comparison.answers[comparison.winner.name]
    rejected = np.flatnonzero(~answers.accepted[0])
    shown = rejected[np.argsort(answers.r[0][rejected], kind="stable")][:SHOWN_CASES]
    negative, positive = (str(label) for label in comparison.cases.classes)
    features = comparison.cases.features
    rows = [
        [
            int(case) + 1,
            ("", "ambiguous", "unlike any seen")[answers.kind[0][case]],
            positive if answers.forced[0][case] == 1 else negative,
            str(to_python(comparison.cases.outcomes[case])),
            round(float(answers.r[0][case]), 6),
            answers.reason[case],
            *(_cell(features[column].iloc[case]) for column in columns),
        ]
        for case in shown.tolist()
    ]
    return {
        "columns": ["Case", "Why it was held back", "Best guess", "Outcome", "Acceptance score", "Reason", *columns],
        "rows": rows,
        "total": len(rejected),
    }


def _differences(comparison: Comparison) -> list[dict[str, Any]]:
    """Columns in which the rejected cases differ most from the others, strongest first."""
    answers = comparison.answers[comparison.winner.name]
    rejected = ~answers.accepted[0]
    features = comparison.cases.features
    if rejected.all() or not rejected.any():
        return [{"column": name, "strength": None, "accepted": "", "rejected": ""} for name in features.columns]
    found = [_difference(features[name], rejected) for name in features.columns]
    return sorted((item for item in found if item is not None), key=lambda item: -item["strength"])


def _difference(column: Any, rejected: Flags) -> dict[str, Any] | None:
    """How a column differs between the two groups; None where its values hardly repeat, so that none can tell."""
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
        # Rare values by themselves would differ between any two groups.
        shares = pd.crosstab(text.where(text.isin(frequent), "(rarer values)"), rejected, normalize="columns")
        strength = float((shares[True] - shares[False]).abs().sum() / 2)
        value = (shares[True] - shares[False]).idxmax()
        shown = [f"{value}: {shares.loc[value, part]:.0%}" for part in (False, True)]
    return {"column": str(column.name), "strength": float(strength), "accepted": shown[0], "rejected": shown[1]}


def _compare_numbers(values: Floats, missing: Any, rejected: Flags) -> tuple[float, tuple[float, float]]:
    """The largest gap between the distributions of the groups, missing values below all others, and the medians."""
    values = np.where(missing, np.nan, values)
    filled = np.where(missing, np.nanmin(values) - 1, values)
    strength = max(ks_score(rejected, filled, pos_label=True), ks_score(rejected, -filled, pos_label=True))
    return strength, (_median(values[~rejected]), _median(values[rejected]))


def _day(seconds: float) -> str | None:
    return None if math.isnan(seconds) else str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _shapes(comparison: Comparison) -> dict[str, Any]:
    """What each feature adds to the scores, where the winner is a sum over features; the strongest first.

    A model whose shape functions add nothing to r has no acceptance score of its own: r follows from h.
    """
    model = comparison.model()
    classifier, _ = locate(model)
    found = getattr(classifier, "shape_functions_", None) or []
    # Towards the positive class, as everywhere on the page.
    sign = -1.0 if found and to_python(classifier.classes_[0]) == comparison.cases.positive else 1.0
    names = [str(name) for name in model[:-1].get_feature_names_out()] if found else []
    values = np.asarray(model[:-1].transform(comparison.cases.features), dtype=float) if found else np.zeros((0, 0))
    shapes = [
        {
            **_reach(values[:, shape.feature] if shape.feature < len(names) else np.zeros(0), shape.cuts),
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
    }


def _moved(shape: dict[str, Any]) -> float:
    return float(max(np.ptp(shape["h"]), np.ptp(shape["r"])))


def _reach(column: Floats, cuts: Any) -> dict[str, Any]:
    """What a panel reaches over: all but one value in 200 at either end, and the cuts; two values have a side each."""
    known = column[~np.isnan(column)]
    values = np.unique(known)
    if len(values) == 2:
        half = (values[1] - values[0]) / 2
        return {"reach": [float(values[0] - half), float(values[1] + half)], "values": values.tolist()}
    if len(values) < 2:
        return {"reach": None, "values": None}
    low, high = np.quantile(known, [0.005, 0.995])
    return {"reach": [float(min(low, *cuts)), float(max(high, *cuts))], "values": None}


def _data(comparison: Comparison) -> dict[str, Any]:
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
    return {"columns": columns, "hints": identifier_hints(features), "fingerprint": comparison.fingerprint}


def _settings(comparison: Comparison) -> dict[str, Any]:
    warnings = sorted(
        {
            f"{comparison.method(name).title}: {text}"
            for name, answers in comparison.answers.items()
            for fold in answers.folds
            for text in fold.warnings
        }
    )
    return {key: comparison.arguments[key] for key in ("cv", "repeats", "seed", "drop")} | {
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
        return float(f"{value:.4g}")
    return value if isinstance(value, int | str | bool) else str(value)


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else to_python(value)
