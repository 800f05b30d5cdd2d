"""Piecewise linear curves for linear models: every column and its excess over a few of its quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ..arrays import Floats


class HingeBasis(TransformerMixin, BaseEstimator):
    """Columns x, and max(0, x - k) for knots k at quantiles: a linear model on them is piecewise linear in each column.

    Beyond the outer knots a curve is a straight line, so that an outlier has no say of its own. A column with few
    values gets a knot at each of them at most.

    Parameters
    ----------
    n_knots : int, default=10
        Knots for each column, at most.

    Attributes
    ----------
    columns_, knots_ : ndarray
        Column and position of each knot.
    """

    def __init__(self, n_knots: int = 10) -> None:
        self.n_knots = n_knots

    def fit(self, X: Floats, y: Any = None) -> HingeBasis:
        """Place the knots."""
        levels = np.linspace(0.0, 1.0, self.n_knots + 2)[1:-1]
        # The least value is no knot: the excess over it is the column itself; nor is the greatest, with no excess.
        placed = [
            np.setdiff1d(np.quantile(column, levels, method="nearest"), [column.min(), column.max()]) for column in X.T
        ]
        self.n_features_in_ = X.shape[1]
        self.columns_ = np.repeat(np.arange(X.shape[1]), [len(knots) for knots in placed])
        self.knots_ = np.concatenate(placed) if placed else np.empty(0)
        return self

    def transform(self, X: Floats) -> Floats:
        """The columns, and behind them their excess over each knot."""
        return np.hstack([X, np.maximum(X[:, self.columns_] - self.knots_, 0.0)])
