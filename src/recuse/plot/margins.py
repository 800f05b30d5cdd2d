"""Display of the loss of a ranking score against the margin required of the positives."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..arrays import Floats
from ..locating import locate
from .axes import BLUE, ORANGE, axes_or_new

# What the axis is called, by metric.
_LOSSES = {"auc": "1 - AUC", "ks": "1 - KS", "precision_at_k": "1 - precision at k", "reject_cost": "mean cost"}


class MarginLossDisplay:
    """Loss of training and test cases against the margin theta, which is subtracted from the scores of the positives.

    A wide gap between the curves at margin 0 is overfitting; the margin theorems ask for a training curve that rises
    late.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        Margins, relative to the range of the score.
    train : ndarray of shape (n,)
        Loss of the training cases.
    test : ndarray of shape (n,), optional
        Loss of other cases.
    own : float, optional
        The margin of the fit.
    metric : str
        Metric of the loss, for the name of the axis.

    Attributes
    ----------
    ax_, figure_, lines_
        What `plot` drew.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import ExactBoostClassifier
    >>> from recuse.plot import MarginLossDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ExactBoostClassifier(n_estimators=10, random_state=0).fit(X[:400], y[:400])
    >>> display = MarginLossDisplay.from_estimator(model, X[:400], y[:400], X[400:], y[400:])  # doctest: +SKIP
    """

    def __init__(
        self,
        margins: Floats,
        train: Floats,
        test: Floats | None = None,
        *,
        own: float | None = None,
        metric: str = "score",
    ) -> None:
        self.margins, self.train, self.test, self.own, self.metric = margins, train, test, own, metric

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        margins: Any = None,
        ax: Any = None,
    ) -> Self:
        """Compute and draw the losses of a fitted `ExactBoostClassifier`.

        Parameters
        ----------
        estimator : fitted classifier with `margin_losses`, or a Pipeline or search that ends in one
            The model.
        X, y : array-like
            The cases it was fitted to.
        X_test, y_test : array-like, optional
            Others.
        margins : array-like, optional
            Margins to show; 41 from 0 to 0.4 by default.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        classifier, transformed = locate(estimator, X)
        if not hasattr(classifier, "margin_losses"):
            raise TypeError(f"{type(classifier).__name__} has no margin_losses: use an ExactBoostClassifier.")
        margins = np.linspace(0.0, 0.4, 41) if margins is None else np.asarray(margins, dtype=float)
        train = classifier.margin_losses(transformed, y, margins)
        test = None if X_test is None else classifier.margin_losses(locate(estimator, X_test)[1], y_test, margins)
        metric = classifier.metric if isinstance(classifier.metric, str) else "own objective"
        return cls(margins, train, test, own=float(classifier.margin), metric=metric).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves."""
        ax = axes_or_new(ax, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_ = ax.plot(self.margins, self.train, color=BLUE, label="training cases")
        if self.test is not None:
            self.lines_ += ax.plot(self.margins, self.test, color=ORANGE, linestyle="--", label="test cases")
        if self.own is not None and self.margins[0] <= self.own <= self.margins[-1]:
            ax.axvline(self.own, color="0.6", linewidth=0.8, label="margin of the fit")
        ax.set_xlabel("margin, relative to the range of the score")
        ax.set_ylabel(_LOSSES.get(self.metric, "loss"))
        ax.set_xlim(self.margins[0], self.margins[-1])
        ax.set_ylim(bottom=0.0)
        ax.legend(frameon=False)
        return self
