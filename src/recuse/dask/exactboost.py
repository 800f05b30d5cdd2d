"""DaskExactBoostClassifier: ExactBoost on a table in partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats, Indices
from ..boosting.binning import MAX_UINT8_BINS, resolve_bins
from ..boosting.constraints import resolve_monotonic
from ..boosting.exactboost.data import (
    DEFAULT_BINS,
    SettledCases,
    check_class_sizes,
    k_in_units,
    require_equal_weights,
    settle_sides,
    start_range,
)
from ..boosting.exactboost.estimator import ExactBoostClassifier
from ..boosting.exactboost.objectives import Terms
from ..boosting.exactboost.problem import RankingProblem, RunSettings
from ..boosting.exactboost.runs import Run
from ..costs import Costs
from ..labels import LabelSpace, label_space, preview, settle_classes, to_python
from ..parameters import check_count
from .cluster import Cluster
from .ranking_rows import Coding, Columns, Contents, merge_contents, settle_unit
from .ranking_runs import RowDraws, RunTask, run_bytes
from .ranking_table import RankingTable
from .sketches import TableSketch
from .tables import PartitionedTable, partitioned

MOST_RUN_CASES = 1_000_000  # run_cases="auto"
_MOST_RUN_CODES = 2**28  # of a run, in wide tables


@dataclass(frozen=True, eq=False)
class _Settled:
    """What is settled about the table before its rows are coded."""

    labels: LabelSpace
    prices: Any
    positive: int
    sign: float
    terms: Terms
    coding: Coding
    has_missing: Any
    monotonic: Any
    draws: RowDraws


class DaskExactBoostClassifier(ExactBoostClassifier):
    """ExactBoost on a Dask DataFrame or array: fitted where the partitions are, answers anywhere.

    A run of ExactBoost works on its cases again and again: each round it draws a subsample of them, searches stumps on
    it, and judges the best by all. Runs are independent of each other. So the rows of a run come together on one
    worker, as codes of one byte per feature, and the run is the very one of `ExactBoostClassifier`; the runs are spread
    over the workers. To send histograms instead, (score x bin) tables of some features, would be exact as well, but
    more would travel than the codes themselves: about 1.5 MB in each of `n_estimators` x `n_rounds` rounds, 20 GB with
    the defaults, where all codes of 20 million rows with 20 features are 0.4 GB.

    Up to `run_cases` rows every run works on all of them: the model is that of `ExactBoostClassifier` with the same
    `random_state`. In a larger table each run draws `run_cases` rows of its own, of each class the same share, by a
    rule that depends on `random_state` and on the numbers of the rows, never on the partitions. Between them, the runs
    then see ``n_estimators * run_cases`` rows.

    The features are cut at quantiles of all rows, from merged sketches: exact up to 32,768 distinct values of a column
    (fewer in tables of more than 32 columns), and beyond with a rank error of a fraction of one in a thousand.

    A worker that dies costs time: Dask repeats its tasks elsewhere, with the same result.

    Parameters
    ----------
    metric, k, costs, n_estimators, n_rounds, subsample, max_features, margin, search, max_bins, monotonic_cst, \
n_iter_no_change, warm_start, pos_label, reject_label, on_reject, random_state, verbose
        As in `ExactBoostClassifier`. `subsample` is the share of a run's cases looked at in a round. `k` counts rows of
        the whole table.
    run_cases : "auto", int or None, default="auto"
        Most rows a run works on; None for all. "auto" is a million, and fewer in tables of more than 268 columns: it
        depends on the table, not on the cluster, so that every cluster makes the same model.
    n_jobs : int, optional
        Threads of predictions in memory. A fit uses those of the workers.

    Attributes
    ----------
    shape_functions_, thresholds_, threshold_, stumps_, weights_, history_, n_iter_, classes_, reject_label_, costs_, \
pos_label_, n_features_in_, feature_names_in_
        As in `ExactBoostClassifier`.
    objective_ : float
        The loss with margin of the mean score: on all rows or, where runs draw, on the panel.

    Notes
    -----
    **Memory.** With n rows, p features and m = min(n, `run_cases`), the workers hold n p bytes between them, and each
    thread of a worker about m (2 p + 92 + 70 `subsample`) bytes (1.25 m with prices, where runs draw). The client holds
    the panel. A fit that would not fit into the workers' memory is refused before rows are sent.

    **Traffic.** All rows for every run: n p bytes to each worker, once. Rows drawn: m p bytes for each run (1.25 m with
    prices). Weights that differ add 8 bytes per row, initial scores 4. A run sends back its stumps and, with prices,
    the scores of its held-out cases.

    **The panel.** Where runs draw, a quarter of `run_cases` is drawn once more. On these rows thresholds are chosen
    (with prices, each row by the runs that have not seen it), the mean score is centred and `objective_` is measured.
    Else these are all rows, and with prices each run keeps a fifth of them out, as on one machine.

    Categories are not taken either: a column of a categorical type is refused; encode it first.

    `groups` are not taken: cases that belong together, such as the visits of one patient, may be on both sides when
    thresholds are chosen by prices.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.dask import DaskExactBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     rows = da.from_array(X, chunks=(200, 30)), da.from_array(y, chunks=200)
    ...     model = DaskExactBoostClassifier(metric="auc", n_estimators=5, random_state=0).fit(*rows)
    >>> model.predict(X[:5])
    array([0, 0, 0, 0, 0])
    >>> saved = model.to_local()
    >>> type(saved).__name__
    'ExactBoostClassifier'
    """

    def __init__(
        self,
        *,
        metric: Any = "auc",
        k: int | None = None,
        costs: Costs | float | None = None,
        n_estimators: int = 250,
        n_rounds: int = 50,
        subsample: float = 0.2,
        max_features: float = 0.2,
        margin: float = 0.0,
        search: str = "exact",
        max_bins: int | str | None = "auto",
        monotonic_cst: Any = None,
        n_iter_no_change: int | None = None,
        run_cases: int | str | None = "auto",
        warm_start: bool = False,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric=metric,
            k=k,
            costs=costs,
            n_estimators=n_estimators,
            n_rounds=n_rounds,
            subsample=subsample,
            max_features=max_features,
            margin=margin,
            search=search,
            max_bins=max_bins,
            monotonic_cst=monotonic_cst,
            categorical_features=None,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            pos_label=pos_label,
            reject_label=reject_label,
            on_reject=on_reject,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.run_cases = run_cases

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None, *, client: Any = None
    ) -> DaskExactBoostClassifier:
        """Boost the runs on the workers and choose the thresholds.

        Parameters
        ----------
        X : dask DataFrame or dask array of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : dask Series or dask array of shape (n_samples,)
            Their classes, partitioned as X is.
        sample_weight, init_score : dask Series or dask array of shape (n_samples,), optional
            As in `ExactBoostClassifier`, partitioned as X is.
        client : distributed.Client, optional
            The cluster; the client in use by default.

        Returns
        -------
        self
        """
        self._check_parameters()
        table = partitioned(X, y=y, sample_weight=sample_weight, init_score=init_score)
        cluster = Cluster(client)
        with cluster.told_of_loss():
            self._fit_there(table, cluster)
        return self

    def _fit_there(self, table: PartitionedTable, cluster: Cluster) -> None:
        """Fit on a cluster."""
        columns = Columns(table.names, table.columns.shape[1], type(self).__name__)
        rows = RankingTable(table.pieces, columns, cluster)
        parts, sketch = rows.look()
        settled = self._settle(parts, sketch, table)
        self._require_memory(rows, settled)
        sides = settled.labels.classes[[settled.positive, 1 - settled.positive]]
        rows.code(settled.coding, [part.sizes(sides) for part in parts])
        self._fit_coded(rows, settled, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.run_cases is not None and not (isinstance(self.run_cases, str) and self.run_cases == "auto"):
            check_count("run_cases", self.run_cases, least=10)

    def _settle(self, parts: list[Contents], sketch: TableSketch, table: PartitionedTable) -> _Settled:
        """Labels, prices, weights, k, cuts and draws, from what is in the partitions."""
        contents = merge_contents(parts)
        labels = self._settle_label_space(contents.labels)
        prices, positive, sign = settle_sides(self, labels)
        require_equal_weights(self.metric, np.array(contents.weight_range))
        sides = labels.classes[[positive, 1 - positive]]
        sizes = contents.sizes(sides)
        check_class_sizes(sides, sizes, self.subsample, held_out=self._has_prices)
        unit = settle_unit(contents)
        weights = np.concatenate([contents.weights[contents.labels == label] for label in sides])
        smallest = contents.weight_range[0]
        terms = Terms(prices.costs.normalised(), k_in_units(self.k, weights / smallest, 1, smallest))
        _require_known_columns(sketch, table)
        n_bins = DEFAULT_BINS if self.max_bins == "auto" else resolve_bins(self.max_bins, sizes.total)
        span = None
        if contents.score_range[0] <= contents.score_range[1]:
            span = start_range(np.sort(sign * np.array(contents.score_range)))
        draws = RowDraws.plan(sizes, self._most_run_cases(len(sketch.columns)), self._has_prices)
        check_class_sizes(sides, draws.of_run, self.subsample, held_out=self._has_prices)
        names = None if table.names is None else np.array(table.names, dtype=object)
        signs = int(sign) * resolve_monotonic(self.monotonic_cst, len(sketch.columns), names)
        has_missing = np.array([column.missing > 0 for column in sketch.columns])
        coding = Coding(sketch.cuts(n_bins), to_python(sides[0]), unit, sign, span)
        return _Settled(labels, prices, positive, sign, terms, coding, has_missing, signs.astype(np.int8), draws)

    def _settle_label_space(self, labels: Any) -> LabelSpace:
        self._check_on_reject()
        return label_space(settle_classes(labels)[0], self.reject_label)

    def _most_run_cases(self, n_features: int) -> int | None:
        """Rows a run works on at most."""
        if self.run_cases == "auto":
            return min(MOST_RUN_CASES, _MOST_RUN_CODES // n_features)
        return None if self.run_cases is None else int(self.run_cases)

    def _require_memory(self, rows: RankingTable, settled: _Settled) -> None:
        """Refuse runs that do not fit into the workers' memory."""
        cuts = settled.coding.cuts
        code_size = 1 if max(map(len, cuts)) < MAX_UINT8_BINS else 4
        needed = run_bytes(settled.draws, len(cuts), code_size, self.subsample)
        rows.require_memory(needed, settled.draws, settled.draws.sizes.total * len(cuts) * code_size)

    def _fit_coded(self, rows: RankingTable, settled: _Settled, table: PartitionedTable) -> None:
        """Boost the runs of coded rows and publish the model; the panel stands for the training cases."""
        task = RunTask(
            settled.coding.cuts,
            settled.has_missing,
            settled.monotonic,
            self.metric,
            settled.terms,
            self._settings(),
            settled.draws,
        )
        problem = task.problem(rows.panel(settled.draws))
        given = SettledCases(settled.labels, settled.prices, settled.sign, settled.coding.span, problem)

        def boost(
            problem: RankingProblem, settings: RunSettings, seed: int, todo: range
        ) -> Iterator[tuple[Run, Indices, Floats]]:
            return rows.boost(task._replace(draws=settled.draws._replace(seed=seed)), todo)

        ensemble = self._boost_and_store(given, table.columns, boost)
        score = ensemble.mean.of_training_cases(problem)
        low, high = self.thresholds_
        if low < high and not ((score < low) | (score > high)).any():
            self._warn_all_rejected()

    def to_local(self) -> ExactBoostClassifier:
        """The model as an `ExactBoostClassifier`, which knows nothing of Dask: to be saved, or sent to others."""
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        del parameters["run_cases"]
        local = ExactBoostClassifier(**parameters)
        for name, value in vars(self).items():
            if name not in ("run_cases", *parameters):
                setattr(local, name, value)
        return local


def _require_known_columns(sketch: TableSketch, table: PartitionedTable) -> None:
    """Refuse a column in which every value is missing."""
    names = table.names or range(len(sketch.columns))
    empty = [name for name, column in zip(names, sketch.columns, strict=True) if not len(column.values)]
    if empty:
        raise ValueError(f"Every value is missing in the columns {preview(empty)}: leave them out.")
