"""From a table in partitions to training rows with the workers: labels, prices, cuts and folds settled on the way."""

from __future__ import annotations

import numbers
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..base import require_two_classes
from ..boosting.abstention.data import FOLDED_ROWS, Inputs
from ..boosting.abstention.prices import forced_log_odds, reduce_prices
from ..boosting.binning import code_features, resolve_bins
from ..boosting.categories import Categories
from ..boosting.constraints import resolve_monotonic
from ..folds import DEFAULT_FOLDS
from ..labels import preview
from .coded import CodingPlan, PriceList, code_partition, join_partitions
from .folding import FoldRule
from .partitions import Partitions
from .ranking_rows import Columns, Contents, look_at_rows, merge_contents
from .search import ClusterTraining
from .sketches import TableSketch, merge_in_tree
from .tables import PartitionedTable


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows held by the workers, and what was learned of the table.

    Attributes
    ----------
    training : ClusterTraining
        The rows.
    inputs : Inputs
        Columns, labels and prices.
    n_rows : int
        Rows with a weight.
    equal_weights : bool
        Whether all of them weigh the same.
    """

    training: ClusterTraining
    inputs: Inputs
    n_rows: int
    equal_weights: bool


def prepare(estimator: Any, partitions: Partitions, table: PartitionedTable, *, with_folds: bool) -> Prepared:
    """Look at all rows once, settle everything that depends on all of them, and have them coded and held."""
    columns = Columns(table.names, table.columns.shape[1], type(estimator).__name__)
    sketches = {"merge": lambda futures, submit: merge_in_tree(futures, submit)}
    found, sketch = partitions.look_and_merge(_look, columns, **sketches)
    sizes, contents = [size for size, _ in found], merge_contents([part for _, part in found])
    inputs = _inputs(estimator, table, contents)
    n_rows = int(contents.counts.sum())
    cuts = _cuts(estimator, sketch, n_rows, inputs)
    prices = inputs.costs.oriented
    reduction = reduce_prices(prices.fp, prices.fn, prices.reject_negative, prices.reject_positive)
    plan = CodingPlan(
        columns,
        inputs.labels.classes,
        cuts,
        contents.weight_range[1],
        (float(reduction.weight_negative), float(reduction.weight_positive)),
        PriceList((prices.fp, prices.fn), (prices.reject_negative, prices.reject_positive)),
        _fold_rule(estimator, n_rows, contents) if with_folds else FoldRule(1, False, 0),
    )
    first = list(accumulate(sizes, initial=0))[:-1]
    partitions.hold(code_partition, plan, each=[(number,) for number in first], sizes=sizes, join=join_partitions)
    signs = resolve_monotonic(estimator.monotonic_cst, inputs.n_features, inputs.feature_names)
    bins = replace(code_features(np.empty((0, len(cuts))), np.zeros(0, dtype=np.intp), cuts), monotonic=signs)
    log_odds = forced_log_odds(prices.fp, prices.fn, reduction)
    training = ClusterTraining(partitions, bins, float(reduction.c), log_odds, plan.folds if with_folds else None)
    low, high = contents.weight_range
    return Prepared(training, inputs, n_rows, high - low <= 1e-12 * high)


def _look(x: Any, y: Any, weight: Any, groups: Any, columns: Columns) -> tuple[tuple[int, Contents], TableSketch]:
    """A task: number of rows of a partition, what is in it, and the sketch of its columns."""
    contents, sketch = look_at_rows(x, y, weight, None, columns, groups)
    return (len(x), contents), sketch


def _inputs(estimator: Any, table: PartitionedTable, contents: Contents) -> Inputs:
    """Columns, labels and prices; nothing is stored on the estimator."""
    _refuse_categories(estimator)
    draft = copy(estimator)
    validate_data(draft, table.columns, skip_check_array=True)
    labels, _ = draft._settle_labels(contents.labels)
    require_two_classes(labels.classes)
    if not contents.counts.all():
        raise ValueError(
            "Only cases of one class have a positive sample_weight: a classifier needs cases of both classes "
            f"{preview(labels.classes)}."
        )
    settled = draft._settle_costs(labels.classes)
    return Inputs(table.columns.shape[1], getattr(draft, "feature_names_in_", None), labels, settled, Categories())


def _refuse_categories(estimator: Any) -> None:
    """Refuse to take numbers for names without an order, whose levels differ by partition."""
    asked = estimator.categorical_features
    if not (asked is None or isinstance(asked, str)):
        raise ValueError(
            f"Categories cannot be fitted on a cluster; got categorical_features={asked!r}. Encode them as numbers, "
            "and leave it at its default."
        )


def _cuts(estimator: Any, sketch: TableSketch, n_rows: int, inputs: Inputs) -> list[Any]:
    """Cuts of every feature by all rows; refuses a column without values."""
    empty = [f for f, column in enumerate(sketch.columns) if not len(column.values)]
    if empty:
        names = np.arange(inputs.n_features) if inputs.feature_names is None else inputs.feature_names
        raise ValueError(f"Every value is missing in the columns {preview(names[empty])}: leave them out.")
    return sketch.cuts(resolve_bins(estimator.max_bins, n_rows, exact_rows=0))


def _fold_rule(estimator: Any, n_rows: int, contents: Contents) -> FoldRule:
    """How rows are held out: five folds, in a large table the first of them only, or as many as `cv` says."""
    rare = int(contents.counts.min())
    if rare < 2:
        raise ValueError(
            f"Choosing by held-out cost needs two cases of each class at least; the rarer has {rare}. Give beta, "
            "family and threshold explicitly, or more cases."
        )
    cv, random = estimator.cv, check_random_state(estimator.random_state)
    seed = int(random.randint(2**31 - 1))
    if cv is None:
        return FoldRule(DEFAULT_FOLDS, n_rows > FOLDED_ROWS, seed)
    if not isinstance(cv, numbers.Integral) or cv < 2:
        raise ValueError(
            f"cv must be a number of folds, 2 or more, on a cluster, where no splitter sees all rows; got {cv!r}."
        )
    return FoldRule(int(cv), False, seed)
