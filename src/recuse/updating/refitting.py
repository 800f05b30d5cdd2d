"""A model fitted anew to training and reviewed cases, each counted as often as its weight says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..arrays import Flags, Floats, Indices
from ..comparison.fitting import method_to_fit
from ..comparison.folds import fit_model
from ..comparison.methods import Method
from ..comparison.plans import Task
from ..labels import to_python
from ..locating import locate
from ..routing import weight_params
from ..thresholds import ThresholdRejectClassifier
from .columns import table_columns


@dataclass(frozen=True, eq=False)
class WeightedCases:
    """Cases in the form of the model.

    Attributes
    ----------
    features : DataFrame
        Their columns.
    positive : ndarray of bool of shape (n,)
        Their outcomes.
    weights : ndarray of shape (n,)
        How often each counts.
    """

    features: Any
    positive: Flags
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: Indices) -> WeightedCases:
        """Some of them, with the weight of all."""
        weights = self.weights[rows]
        scaled = weights * (self.weights.sum() / weights.sum())
        return WeightedCases(self.features.iloc[rows].reset_index(drop=True), self.positive[rows], scaled)

    def beside(self, other: WeightedCases | None) -> WeightedCases:
        """These and others."""
        if other is None:
            return self
        import pandas as pd

        return WeightedCases(
            pd.concat([other.features, self.features], ignore_index=True),
            np.concatenate([other.positive, self.positive]),
            np.concatenate([other.weights, self.weights]),
        )


Maker = Callable[[WeightedCases], Any]  # a model from reviewed cases


def same_method(model: Any) -> Any:
    """The classifier of a model, to be fitted anew with its settings; a promise is not among them.

    What is promised is tested on cases that all count once, and these do not.
    """
    last = model.steps[-1][1]
    same = clone(getattr(last, "classifier_", last))  # one behind a promise
    return same.set_params(guarantee=None) if "guarantee" in same.get_params(deep=False) else same


def refit(model: Any, method: Any, seed: int, cases: WeightedCases) -> Any:
    """Fit a method at the prices of a model."""
    classifier, columns = locate(model)[0], table_columns(model)
    chosen = method_to_fit(same_method(model) if method is None else method, len(cases))
    task = Task(
        classifier.costs_,
        to_python(classifier.pos_label_),
        seed,
        len(cases),
        novelty=columns.novelty,
        n_columns=len(columns.columns_),
    )
    _require_weights(chosen, task)
    second_is_positive = to_python(classifier.classes_[1]) == to_python(classifier.pos_label_)
    outcomes = classifier.classes_[(cases.positive == second_is_positive).astype(np.intp)]
    fitted, _ = fit_model(chosen, task, cases.features, outcomes, weights=cases.weights)
    fitted[0].remember_writings(columns.writings_)
    fitted[0].remember_table(cases.features)
    return fitted


def _require_weights(method: Method, task: Task) -> None:
    """Refuse a method whose classifier cannot be told that some cases count more."""
    estimator = method.build(task).estimator
    while isinstance(estimator, ThresholdRejectClassifier):
        estimator = estimator.estimator
    if not weight_params(estimator, np.full(1, 2.0), required=False):
        raise TypeError(
            f"method={method.name!r} cannot weight cases, and reviewed cases are no random part of all: give one of "
            "those that `recuse methods` lists, which all can."
        )
