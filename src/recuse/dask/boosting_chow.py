"""Gradient boosting on a table in partitions, by LightGBM's own Dask estimator, with Chow's rule around it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import accumulate
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from ..arrays import Floats, Indices
from ..base import require_two_classes
from ..costs import Costs
from ..ensemble.boosters import NativeBooster
from ..extras import require
from ..labels import encode, settle_classes, to_python
from ..parameters import check_count
from ..thresholds import ThresholdRejectClassifier
from .drawing import ClassSizes, drawn_rows
from .faults import ClusterError, first_line
from .partitions import Partitions
from .ranking_rows import Columns, Contents, contents_of, merge_contents
from .tables import Piece, partitioned

_HELD_OUT_SHARE = 10  # one case in so many is held out, up to `calibration_cases`
_LEAST = 5  # cases of each class
_CHOSEN_HERE = {"client", "tree_learner", "n_jobs", "verbose", "random_state", "objective"}


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Which rows of a partition are held out.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The labels.
    first, own : ClassSizes
        Numbers of its first rows of each class through all partitions, and how many it has.
    sizes, drawn : ClassSizes
        Rows of the table, and how many of them are held out.
    seed : int
        Of the draw.
    """

    classes: NDArray[Any]
    first: ClassSizes
    own: ClassSizes
    sizes: ClassSizes
    drawn: ClassSizes
    seed: int

    @property
    def n_training(self) -> int:
        """Rows of the partition that are not held out."""
        return self.own.total - sum(len(self._drawn(side)) for side in (0, 1))

    def rows(self, piece: Piece, *, held_out: bool) -> Indices:
        """Positions of rows that count: those held out, or the others."""
        codes, found = encode(piece.y, self.classes), []
        for side in (0, 1):
            rows = np.flatnonzero((codes == side) & (piece.weight > 0))
            found.append(rows[self._drawn(side)] if held_out else np.delete(rows, self._drawn(side)))
        return np.sort(np.concatenate(found))

    def _drawn(self, side: int) -> Indices:
        start, seed = self.first[side], (self.seed, side)
        return drawn_rows(seed, self.sizes[side], self.drawn[side], start, start + self.own[side]) - start


def fit_boosting_chow(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    costs: Costs | float = 0.2,
    pos_label: Any = None,
    reject_label: Any = "auto",
    calibration: str | None = "auto",
    calibration_cases: int = 50_000,
    settings: Mapping[str, Any] | None = None,
    random_state: int = 0,
    client: Any = None,
) -> ThresholdRejectClassifier:
    """Fit LightGBM to a table in partitions and put Chow's rule around it: a model in memory, which answers anywhere.

    The trees are fitted by ``lightgbm.DaskLGBMClassifier`` where the partitions are. One row in ten, but at most
    `calibration_cases` of them, is held out by a rule that depends on the numbers of the rows and not on the
    partitions; on these the probabilities are calibrated. The model is a `ThresholdRejectClassifier` with the trees
    inside, for `recuse.save`, `recuse.decide` and whatever takes a classifier.

    It is what the distributed models of this library are compared with, ``boosting-chow`` of `recuse.compare`.

    Parameters
    ----------
    X : dask DataFrame or dask array of shape (n_samples, n_features)
        Training cases, numbers; NaN is a missing value.
    y : dask Series or dask array of shape (n_samples,)
        Their classes, two of them, partitioned as X is.
    sample_weight : dask Series or dask array of shape (n_samples,), optional
        Weight of each case, partitioned as X is.
    costs, pos_label, reject_label, calibration
        As in `ThresholdRejectClassifier`.
    calibration_cases : int, default=50,000
        Most rows held out; they come to the client.
    settings : dict, optional
        Parameters of ``lightgbm.LGBMClassifier``, such as ``{"n_estimators": 300, "num_leaves": 15}``.
    random_state : int, default=0
        Seed of LightGBM, and of the rows held out.
    client : distributed.Client, optional
        The cluster; the client in use by default.

    Returns
    -------
    ThresholdRejectClassifier

    Notes
    -----
    LightGBM opens ports of its own on the workers, and a fit of it ends with an error where a worker is lost: fit
    again. Its trees depend on the partitions a little, since bins and sums of gradients do.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.dask import fit_boosting_chow
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = da.from_array(X, chunks=(200, 30)), da.from_array(y, chunks=200)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = fit_boosting_chow(*rows, costs=0.1, settings={"n_estimators": 20}, calibration=None)
    >>> model.predict(X[1:3])
    array([0, 0])
    """
    require("lightgbm", "fit_boosting_chow")
    check_count("calibration_cases", calibration_cases, least=10)
    settings = _check_settings(settings)
    table = partitioned(X, y=y, sample_weight=sample_weight)
    columns = Columns(table.names, table.columns.shape[1], "fit_boosting_chow")
    partitions = Partitions([(number, *pieces) for number, pieces in enumerate(table.pieces)], client)
    parts = partitions.look(_look, columns)
    contents = merge_contents(parts)
    classes, _ = settle_classes(contents.labels)
    require_two_classes(classes)
    plans = _plan(parts, classes, calibration_cases, random_state)
    booster = _fit_trees(partitions, plans, columns, settings, random_state)
    held = partitions.look(_take, columns, plans, True)
    cases, codes, weights = (np.concatenate([part[i] for part in held]) for i in range(3))
    model = NativeBooster("lightgbm", settings, random_state=random_state)
    model.classes_, model.n_features_in_ = classes, columns.number
    model.model_ = np.frombuffer(booster.model_to_string().encode("utf-8"), dtype=np.uint8)
    rule = ThresholdRejectClassifier(
        FrozenEstimator(model), costs=costs, pos_label=pos_label, reject_label=reject_label, calibration=calibration
    )
    return rule.fit(_named(cases, table.names), classes[codes], None if sample_weight is None else weights)


def _check_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters of LightGBM; refuse those that are settled by the fit."""
    taken = sorted(_CHOSEN_HERE & set(settings or ()))
    if taken:
        raise ValueError(f"settings must not hold {taken[0]!r}, which fit_boosting_chow settles itself: leave it out.")
    return dict(settings or {})


def _plan(parts: Sequence[Contents], classes: NDArray[Any], most: int, seed: int) -> list[_HeldOut]:
    """Which rows of each partition are held out."""
    own = [part.sizes(classes) for part in parts]
    starts = list(accumulate(own, lambda a, b: ClassSizes(a[0] + b[0], a[1] + b[1]), initial=ClassSizes(0, 0)))
    total = starts[-1]
    for label, n in zip(classes, total, strict=True):
        if n < _LEAST:
            raise ValueError(
                f"y holds {n} cases of class {to_python(label)!r} with a positive weight: at least {_LEAST}, to hold "
                "some out for the calibration."
            )
    drawn = ClassSizes(*(max(1, round(n * min(1 / _HELD_OUT_SHARE, most / total.total))) for n in total))
    return [_HeldOut(classes, *at, total, drawn, seed) for at in zip(starts[:-1], own, strict=True)]


def _look(number: int, X: Any, y: Any, weight: Any, columns: Columns) -> Contents:
    """A task: what is in a partition."""
    return contents_of(columns.check(X, y, weight))


def _take(
    number: int, X: Any, y: Any, weight: Any, columns: Columns, plans: Sequence[_HeldOut], held_out: bool
) -> tuple[NDArray[Any], Indices, Floats]:
    """A task: features, class numbers and weights of the rows of a partition that are held out, or of the others."""
    piece, plan = columns.check(X, y, weight), plans[number]
    rows = plan.rows(piece, held_out=held_out)
    return piece.X[rows], encode(piece.y[rows], plan.classes), piece.weight[rows]


def _fit_trees(
    partitions: Partitions, plans: Sequence[_HeldOut], columns: Columns, settings: dict[str, Any], seed: int
) -> Any:
    """LightGBM's model, fitted where the rows are."""
    import dask
    import dask.array as da
    from lightgbm import DaskLGBMClassifier

    client, take = partitions.client, dask.delayed(_take, pure=False)
    # LightGBM does not take empty partitions.
    used = [(pieces, plan) for pieces, plan in zip(partitions.sources, plans, strict=True) if plan.n_training]
    rows = client.compute([take(*pieces, columns, plans, False) for pieces, _ in used])
    arrays = [
        da.concatenate(
            [
                da.from_delayed(client.submit(getitem, taken, i), (plan.n_training, *shape), dtype=np.float64)
                for taken, (_, plan) in zip(rows, used, strict=True)
            ]
        )
        for i, shape in enumerate([(columns.number,), (), ()])
    ]
    trees = DaskLGBMClassifier(client=client, verbose=-1, random_state=seed, **settings)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # it prints that it looks for ports
        warnings.filterwarnings("ignore", category=UserWarning, module="lightgbm")  # of parameters it sets itself
        try:
            trees.fit(*arrays[:2], sample_weight=arrays[2])
        except Exception as error:  # whatever it is, the sentence says who failed
            raise ClusterError(
                f"LightGBM's fit on the cluster failed: {type(error).__name__}: {first_line(error)} It does not "
                "survive the loss of a worker: if one was lost, fit again."
            ) from error
    return trees.booster_


def _named(cases: NDArray[Any], names: list[Any] | None) -> Any:
    """Cases with the names of their columns, if they have names."""
    if names is None:
        return cases
    import pandas as pd

    return pd.DataFrame(cases, columns=names)
