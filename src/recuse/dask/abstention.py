"""DaskAbstentionBoostingClassifier: boosting with abstention on a table in partitions."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..boosting.abstention.engine.settings import Settings
from ..boosting.abstention.estimator import AbstentionBoostingClassifier
from ..boosting.abstention.records import FitRecord
from ..progress import shown_progress
from .candidates import ClusterCandidate, as_training_set
from .partitions import Partitions
from .search import ClusterSearch
from .tables import partitioned
from .training import Prepared, prepare


class DaskAbstentionBoostingClassifier(AbstentionBoostingClassifier):
    """Boosting with abstention on a Dask DataFrame or array: fitted where the partitions are, answers anywhere.

    A class of its own, as LightGBM and XGBoost have theirs: its `fit` takes collections of Dask with a client and
    holds rows out by other means, and the fitted model is that of `AbstentionBoostingClassifier`, with the same
    parameters and attributes; `to_local` returns it as one.

    Each worker keeps its rows as one byte per feature, with their weights, for the whole fit. The rounds are those of
    `AbstentionBoostingClassifier`: in each the workers send histograms of their rows, and one stump goes back. At the
    same cuts and folds the stumps are the same, and the scores differ by rounding only, however the table is
    partitioned.

    The features are cut at quantiles of all rows, from merged sketches: see `recuse.dask.sketches` for their error.
    Rows are held out by a hash of their number in the table, or of their group: five folds, above 20,000 rows the
    first of them only, or `cv` folds. A worker that dies costs time: its partitions are read again by others, and the
    stumps so far added again.

    Parameters
    ----------
    costs, loss, surrogate, family, stack, n_rounds, beta, learning_rate, max_bins, monotonic_cst, step, gamma, b, \
early_stopping, threshold, tol, pos_label, reject_label, on_reject, n_jobs, random_state, verbose
        As in `AbstentionBoostingClassifier`; `stack` may be None or "start", `n_jobs` is the number of threads of
        predictions in memory. A fit uses those of the workers.
    cv : int, optional
        Number of folds.
    max_depth, corrective, interactions, bags
        Left at 1, False, None and "auto": trees, corrective steps and pair terms need all rows in one place, and one
        fit to all rows is not averaged.
    categorical_features
        Left at its default: columns of a categorical type are refused; encode them first.

    Attributes
    ----------
    family_, stumps_, weights_, shape_functions_, score_functions_, beta_, threshold_, objective_, residual_, \
dual_gap_, history_, n_iter_, held_out_costs_, candidates_, classes_, reject_label_, costs_, pos_label_, \
n_features_in_, feature_names_in_
        As in `AbstentionBoostingClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.dask import DaskAbstentionBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DaskAbstentionBoostingClassifier(costs=0.1, family="coupled", beta=0.01, threshold="calibrated")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     fitted = model.fit(da.from_array(X[:400], chunks=(100, 30)), da.from_array(y[:400], chunks=100))
    >>> model.predict(X[408:418])
    array([0, 1, 1, 1, 1, 0, 0, 1, 1, 0])
    >>> type(model.to_local()).__name__
    'AbstentionBoostingClassifier'
    """

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, client: Any = None
    ) -> DaskAbstentionBoostingClassifier:
        """Fit the pair of scores.

        Parameters
        ----------
        X : dask DataFrame or dask array of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : dask Series or dask array of shape (n_samples,)
            Their classes, in the same partitions.
        sample_weight : dask Series or dask array of shape (n_samples,), optional
            Weight of each case.
        groups : dask Series or dask array of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: no group is on both sides of a fold.
        client : distributed.Client, optional
            The cluster; the client in use by default.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_distributable()
        table = partitioned(X, y=y, sample_weight=sample_weight, groups=groups)
        with Partitions(table.pieces, client) as partitions:
            prepared = prepare(self, partitions, table, with_folds=self._needs_held_out())
            settings = self._settings(prepared.n_rows)
            search = ClusterSearch(prepared.training, settings)
            with shown_progress(self.verbose):
                candidates = search.candidates(self.family, self.stack)
            chosen = search.choose(candidates)
        record = _record(settings, prepared, chosen)
        self._store(prepared.inputs, as_training_set(), [*candidates], chosen, record)
        self._warn()
        if chosen.n_accepted == 0:
            self._warn_all_rejected()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def to_local(self) -> AbstentionBoostingClassifier:
        """The fitted model as an `AbstentionBoostingClassifier`, which needs no Dask."""
        check_is_fitted(self)
        local = AbstentionBoostingClassifier(**self.get_params(deep=False))
        local.__dict__.update(self.__dict__)
        return local

    def _check_distributable(self) -> None:
        """Refuse what needs all rows in one place."""
        together = {"max_depth": self.max_depth > 1, "corrective": self.corrective, "interactions": self._interacts}
        together["bags"] = not isinstance(self.bags, str) and self.bags > 1
        for name, wanted in together.items():
            if wanted:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all cases in one place: leave {name} out on a cluster, or "
                    "use AbstentionBoostingClassifier on a sample that fits into memory."
                )
        if self.stack not in (None, "start"):
            raise ValueError(f"stack must be None or 'start' on a cluster; got {self.stack!r}.")
        if self.stack is not None and self.cv is not None and self.cv == 2:
            raise ValueError(
                "stack='start' needs scores by models that have seen neither a case nor its fold: cv=3 folds or more."
            )


def _record(settings: Settings, prepared: Prepared, chosen: ClusterCandidate) -> FitRecord:
    """What a fit was given."""
    surrogate = chosen.boosted.problem.surrogate
    return FitRecord(
        settings,
        by_case=False,
        equal_weights=prepared.equal_weights,
        price=prepared.training.c,
        k=float(surrogate.k),
    )
