"""Summaries of answers, computed partition by partition and merged in a tree: counts, and sketches of scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Indices
from ..class_costs import ClassCosts
from ..costs import Costs, answer_columns, as_costs
from ..decisions import KINDS
from ..extras import require
from ..labels import to_python
from ..metrics.encoding import check_score
from ..metrics.merging import RiskCoverageSketch
from ..metrics.rejection import price_matrix
from .tables import is_frame

_MERGED_AT_ONCE = 8
_REJECTED, _NOVEL = -1, -2  # where classes are numbered


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """How often each outcome met each answer, of each kind: what metrics of answers need, with classes numbered.

    Attributes
    ----------
    classes : list
        The classes.
    truth, answer, kind : ndarray of int
        Number of the class, `_NOVEL` or `_REJECTED` in their place; position in `KINDS`.
    weight : ndarray
        Number of cases, or their weight.
    has_novelty : bool
        Whether a label of novelties was given.
    """

    classes: list[Any]
    truth: Indices
    answer: Indices
    kind: Indices
    weight: NDArray[Any]
    has_novelty: bool

    def arguments(self) -> dict[str, Any]:
        """Arguments of a metric."""
        return {
            "y_true": self.truth,
            "y_pred": self.answer,
            "labels": np.arange(len(self.classes)),
            "reject_label": _REJECTED,
            "sample_weight": self.weight,
        }

    def kinds(self) -> NDArray[Any]:
        """Kind of each answer."""
        return np.array(KINDS)[self.kind]

    def novelty(self) -> dict[str, Any]:
        """The argument that says which outcomes belong to no class."""
        return {"novelty_label": _NOVEL} if self.has_novelty else {}

    def number(self, label: Any) -> int | None:
        """Number of a class; None stays None."""
        return class_number(label, self.classes)


def by_number(costs: Costs | float, classes: list[Any]) -> Costs:
    """Prices whose classes, where they name any, are numbered as they are here."""
    costs = as_costs(costs)
    return costs.for_classes(classes).renamed(range(len(classes))) if isinstance(costs, ClassCosts) else costs


def class_number(label: Any, classes: list[Any]) -> int | None:
    """Number of the positive class; None stays None."""
    if label is None:
        return None
    if to_python(label) not in classes:
        raise ValueError(f"pos_label={to_python(label)!r} must be one of the classes {classes}.")
    return classes.index(to_python(label))


def counted(
    y_true: Any, y_pred: Any, sample_weight: Any, labels: Any, reject_label: Any, novelty_label: Any = None
) -> AnswerCounts:
    """Count the answers of a partitioned table."""
    is_decisions = is_frame(y_pred)
    frame = _joined(y_true, y_pred, sample_weight, None, _count)
    found = _merged(frame, _add_counts)
    rejected = found["kind"].to_numpy() > 0
    if not is_decisions and reject_label is not None:
        rejected = (found["answer"] == to_python(reject_label)).to_numpy()
    novel = np.zeros(len(found), dtype=bool)
    if novelty_label is not None:
        novel = (found["truth"] == to_python(novelty_label)).to_numpy()
    known = [*found["truth"][~novel], *(found["answer"][~rejected] if is_decisions else [])]
    classes = _classes(known) if labels is None else [to_python(label) for label in labels]
    kind = np.where(rejected, np.maximum(found["kind"].to_numpy(), 1), 0)
    weight = found["weight"].to_numpy()
    return AnswerCounts(
        classes,
        np.where(novel, _NOVEL, _numbers("y_true", found["truth"], classes, novel)),
        np.where(rejected, _REJECTED, _numbers("y_pred", found["answer"], classes, rejected)),
        kind,
        weight,
        novelty_label is not None,
    )


def sketched(
    y_true: Any,
    y_pred: Any,
    score: Any,
    sample_weight: Any,
    labels: Any,
    costs: Costs | float | None,
    pos_label: Any,
    bits: int,
) -> RiskCoverageSketch:
    """Sketch the losses of a partitioned table over its scores."""
    if score is None and not is_frame(y_pred):
        raise ValueError("score is missing: pass the acceptance score of each case, or a dask DataFrame of decisions.")
    prices, classes = None, None
    if costs is not None:
        classes = (
            counted(y_true, y_pred, None, labels, None).classes if labels is None else list(map(to_python, labels))
        )
        numbers = np.arange(len(classes))
        prices = price_matrix(numbers, by_number(costs, classes), class_number(pos_label, classes))
    found: RiskCoverageSketch = _merged(
        _joined(y_true, y_pred, sample_weight, score, _sketch, prices, classes, bits), _add_sketches
    )
    found.points()  # refuses a table without cases
    return found


def _joined(
    y_true: Any, y_pred: Any, sample_weight: Any, score: Any, summarise: Callable[..., Any], *args: Any
) -> list[Any]:
    """Delayed summaries of the partitions, each read once even if several columns come from the same table."""
    dd = require("dask.dataframe", "A metric of a partitioned table")
    given = {"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight, "score": score}
    frames = {name: _as_frame(dd, name, value) for name, value in given.items() if value is not None}
    partitions = {name: frame.npartitions for name, frame in frames.items()}
    if len(set(partitions.values())) > 1:
        raise ValueError(f"{' and '.join(partitions)} must have the same partitions; got {list(partitions.values())}.")
    summaries = dd.map_partitions(
        _summary,
        *frames.values(),
        names=list(frames),
        summarise=summarise,
        args=args,
        meta={"summary": object},
        align_dataframes=False,
        enforce_metadata=False,
    )
    return list(summaries.to_delayed())


def _as_frame(dd: Any, name: str, value: Any) -> Any:
    if hasattr(value, "npartitions") and not hasattr(value, "rechunk"):
        if is_frame(value) and name == "y_pred":
            _require_decisions(value)
        if not is_frame(value) or name == "y_pred":
            return value
    if hasattr(value, "rechunk") and value.ndim == 1:
        return dd.from_dask_array(value)
    raise TypeError(f"{name} must be a dask collection of one dimension; got {type(value).__name__}.")


def _require_decisions(frame: Any) -> None:
    """Refuse a frame that does not hold decisions."""
    lacking = [name for name in ("forced", "kind") if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"y_pred is a table without the column {lacking[0]!r}, so that it does not hold decisions: give what "
            "recuse.decide returns for a dask collection, or its column of labels."
        )


def _summary(*parts: Any, names: list[str], summarise: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The summary of one partition, in a frame of one cell: what map_partitions returns has rows."""
    import pandas as pd

    found = dict(zip(names, parts, strict=True))
    lengths = {name: len(part) for name, part in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"{' and '.join(lengths)} must have partitions of the same length; got {list(lengths.values())}."
        )
    return pd.DataFrame({"summary": pd.Series([summarise(_cases(**found), *args)], dtype=object)})


def _cases(y_true: Any, y_pred: Any, sample_weight: Any = None, score: Any = None) -> Any:
    """The columns of one partition: truth, answer, kind, weight, score."""
    import pandas as pd

    is_decisions = is_frame(y_pred)
    columns = {
        "truth": y_true.astype(object).to_numpy(),
        "answer": (y_pred["forced"] if is_decisions else y_pred).astype(object).to_numpy(),
        "kind": pd.Index(KINDS).get_indexer(y_pred["kind"].astype(object)) if is_decisions else 0,
        "weight": 1 if sample_weight is None else sample_weight.to_numpy(),
    }
    if score is not None or (is_decisions and "r" in y_pred.columns):
        columns["score"] = (y_pred["r"] if score is None else score).to_numpy()
    frame = pd.DataFrame(columns, index=range(len(y_true)))
    if frame["truth"].isna().any():
        raise ValueError("y_true holds missing values: a metric needs the outcome of every case.")
    weights = frame["weight"].to_numpy()
    if weights.dtype.kind not in "biuf" or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must hold finite numbers of 0 or more.")
    return frame


def _count(cases: Any) -> Any:
    return _add_counts([cases])


def _add_counts(counts: list[Any]) -> Any:
    import pandas as pd

    whole = pd.concat([part[["truth", "answer", "kind", "weight"]] for part in counts])
    groups = whole.groupby(["truth", "answer", "kind"], sort=False, dropna=False)
    return groups["weight"].sum().reset_index().astype({"truth": object, "answer": object})


def _sketch(cases: Any, prices: Any, classes: list[Any] | None, bits: int) -> RiskCoverageSketch:
    score = check_score(cases["score"].to_numpy(), len(cases))
    weight = cases["weight"].to_numpy(dtype=np.float64)
    if prices is None or classes is None:
        wrong = cases["truth"].to_numpy() != cases["answer"].to_numpy()
        return RiskCoverageSketch.of(score, wrong.astype(float), weight, bits=bits)
    nobody = np.zeros(len(cases), dtype=bool)
    truth = _numbers("y_true", cases["truth"], classes, nobody)
    answer = _numbers("y_pred", cases["answer"], classes, nobody)
    rejected = answer_columns(answer, np.maximum(cases["kind"].to_numpy(), 1), len(classes))
    return RiskCoverageSketch.of(score, prices[truth, answer], weight, prices[truth, rejected], bits)


def _add_sketches(sketches: list[RiskCoverageSketch]) -> RiskCoverageSketch:
    return RiskCoverageSketch.merged(sketches)


def _merged(parts: list[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Merge delayed summaries in a tree, on the workers, and bring the last one here."""
    dask = require("dask", "A metric of a partitioned table")
    summaries = [dask.delayed(_content)(part) for part in parts]
    while len(summaries) > 1:
        groups = [summaries[i : i + _MERGED_AT_ONCE] for i in range(0, len(summaries), _MERGED_AT_ONCE)]
        summaries = [dask.delayed(merge)(group) for group in groups]
    return summaries[0].compute()


def _content(frame: Any) -> Any:
    return frame["summary"].iloc[0]


def _classes(labels: list[Any]) -> list[Any]:
    found = {to_python(label) for label in labels}
    try:
        return sorted(found)
    except TypeError:
        raise ValueError("y_true and y_pred hold labels of different types: give labels of one type.") from None


def _numbers(name: str, labels: Any, classes: list[Any], others: NDArray[Any]) -> Indices:
    """Number of the class of each label; those that stand for something else are passed over."""
    import pandas as pd

    numbers = pd.Index(classes, dtype=object).get_indexer(pd.Index(labels, dtype=object))
    unknown = labels.to_numpy()[(numbers < 0) & ~others]
    if len(unknown):
        marker = "novelty_label" if name == "y_true" else "reject_label"
        raise ValueError(
            f"{name} holds {to_python(unknown[0])!r}, not among the classes {classes}: pass {marker}= if it marks such "
            "cases, or labels= if it is a class."
        )
    return numbers
