"""ReliabilityDisplay: whether probabilities mean what they say."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..labels import to_python
from ..locating import locate
from ..metrics.reliability import Reliability, reliability_curve
from .axes import axes_or_new

_GREY = "#777777"


class ReliabilityDisplay:
    """Share of positive cases against their probability, in bins of about as many cases each.

    On the diagonal, probabilities mean what they say. Bars show the limits of each share, by Clopper and Pearson; a
    bin whose bar crosses the diagonal says nothing against the model.

    Attributes
    ----------
    curve : Reliability
        What is drawn.
    name : str, optional
        For the legend.
    ax_, figure_, line_
        What `plot` drew.

    Examples
    --------
    >>> from recuse.plot import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.2, 0.3, 0.6, 0.9], n_bins=2)
    >>> round(display.curve.error, 3)
    0.25
    """

    def __init__(self, curve: Reliability, *, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probabilities: Any,
        *,
        n_bins: int = 10,
        pos_label: Any = None,
        sample_weight: Any = None,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **line_options: Any,
    ) -> Self:
        """Compute and draw from outcomes and probabilities of the positive class.

        Parameters
        ----------
        y_true, probabilities, n_bins, pos_label, sample_weight, confidence
            As in `recuse.metrics.reliability_curve`.
        name : str, optional
            Name in the legend.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **line_options
            Options of matplotlib's `errorbar`, such as `color`.
        """
        curve = reliability_curve(
            y_true,
            probabilities,
            n_bins=n_bins,
            pos_label=pos_label,
            sample_weight=sample_weight,
            confidence=confidence,
        )
        return cls(curve, name=name).plot(ax, **line_options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw from a fitted classifier with probabilities, or a Pipeline or search that ends in one.

        The positive class is the model's by default; options are those of `from_predictions`.
        """
        classifier, prepared = locate(estimator, X)
        if not hasattr(classifier, "predict_proba"):
            raise TypeError(f"{type(classifier).__name__} has no predict_proba: there is no probability to compare.")
        options["pos_label"] = classifier.pos_label_ if options.get("pos_label") is None else options["pos_label"]
        classes = [to_python(label) for label in classifier.classes_]
        column = classes.index(to_python(options["pos_label"]))
        probabilities = np.asarray(classifier.predict_proba(prepared))[:, column]
        return cls.from_predictions(y, probabilities, name=name or type(classifier).__name__, ax=ax, **options)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the bins, their limits and the diagonal."""
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        curve, label = self.curve, name or self.name
        if not self.ax_.lines:  # once, where several models share the axes
            self.ax_.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1)
        bars = np.maximum([curve.observed - curve.low, curve.high - curve.observed], 0.0)
        shown = f"{label} (error {curve.error:.3f})" if label else f"error {curve.error:.3f}"
        options = {"marker": "o", "capsize": 3, "label": shown} | line_options
        self.line_ = self.ax_.errorbar(curve.predicted, curve.observed, yerr=bars, **options).lines[0]
        self.ax_.set(xlabel="probability of the positive class", ylabel="share of positive cases")
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(frameon=False)
        return self
