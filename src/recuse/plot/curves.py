"""Displays of curves over the operating points, and of the confusion matrix with its reject column.

Each display is computed once, by `from_estimator` or `from_predictions`, and drawn by `plot` on axes of its own
or on those given, so that several models can share one picture.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..decisions import KINDS
from ..labels import to_python
from ..locating import decide, locate
from ..metrics import accuracy_rejection_curve, aurc_score, cost_curve, reject_confusion_matrix, risk_coverage_curve
from .axes import BLUE, ORANGE, axes_or_new

_GREY = "#555555"


class _CurveDisplay(ABC):
    """What the displays of a curve share: how they are computed and drawn.

    Attributes
    ----------
    x, y : ndarray
        The curve.
    thresholds : ndarray
        Acceptance score at each point.
    chosen : tuple of float, optional
        The operating point of the model itself.
    name : str, optional
        For the legend.
    ax_, figure_, line_
        What `plot` drew.
    """

    xlabel: ClassVar[str]
    ylabel: ClassVar[str]
    drawstyle: ClassVar[str] = "default"
    marks_own_point: ClassVar[bool] = True

    def __init__(
        self,
        x: Floats,
        y: Floats,
        thresholds: Floats,
        *,
        chosen: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.x, self.y, self.thresholds, self.chosen, self.name = x, y, thresholds, chosen, name

    @staticmethod
    @abstractmethod
    def _curve(y_true: Any, y_pred: Any, score: Any, **options: Any) -> tuple[Floats, Floats, Floats]: ...

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        score: Any = None,
        *,
        costs: Any = None,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **line_options: Any,
    ) -> Self:
        """Compute and draw from outcomes and a `Decisions` table, or forced answers and an acceptance score.

        Parameters
        ----------
        y_true, y_pred, score, costs, labels, pos_label, sample_weight
            As in `risk_coverage_curve`.
        name : str, optional
            Name in the legend.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **line_options
            Options of the line: `color`, `linestyle` and whatever else matplotlib's `plot` takes.
        """
        given = {"costs": costs, "labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
        options = {key: value for key, value in given.items() if value is not None}
        x, y, thresholds = cls._curve(y_true, y_pred, score, **options)
        # A case is accepted if its score is greater than 0: the last such threshold is the model's own point.
        own = int(np.count_nonzero(thresholds > 0)) - 1
        chosen = (float(x[own]), float(y[own])) if cls.marks_own_point and score is None and own >= 0 else None
        name = cls._legend_name(name, y_true, y_pred, score, **options)
        return cls(x, y, thresholds, chosen=chosen, name=name).plot(ax, **line_options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw from a fitted reject-option classifier, or a Pipeline or search that ends in one.

        Options are those of `from_predictions`; prices and positive class are the model's by default.
        """
        decisions = decide(estimator, X, reasons=False)
        name = name or type(locate(estimator)[0]).__name__
        return cls.from_predictions(y, decisions, name=name, ax=ax, **options)

    @classmethod
    def _legend_name(cls, name: str | None, y_true: Any, y_pred: Any, score: Any, **options: Any) -> str | None:
        """What the legend shows."""
        return name

    def plot(self, ax: Any = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the curve and mark the model's own operating point."""
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        label = name or self.name
        options = {"drawstyle": self.drawstyle, "label": label} | line_options
        (self.line_,) = self.ax_.plot(self.x, self.y, **options)
        if self.chosen is not None:
            self.ax_.plot(*self.chosen, marker="o", markersize=8, color=self.line_.get_color(), linestyle="none")
        self.ax_.set(xlabel=self.xlabel, ylabel=self.ylabel)
        self.ax_.grid(alpha=0.3)
        self.ax_.autoscale(axis="y")  # limits set by an earlier curve must not cut this one off
        self.ax_.set_ylim(bottom=min(0.0, self.ax_.get_ylim()[0]))
        if label:
            self.ax_.legend(frameon=False)
        return self


class RiskCoverageDisplay(_CurveDisplay):
    """Risk on the accepted cases against the share accepted. A dot marks the model's own operating point.

    The legend shows the area under the curve. The vertical axis fits the risk at a coverage of 5 % or more: below that,
    a handful of cases makes it jump.

    Attributes
    ----------
    x, y : ndarray
        Coverage and risk.
    thresholds : ndarray
        Acceptance score at each point.
    chosen : tuple of float, optional
        The operating point of the model itself.
    name : str, optional
        For the legend.
    ax_, figure_, line_
        What `plot` drew.

    Examples
    --------
    >>> from recuse.plot import RiskCoverageDisplay
    >>> display = RiskCoverageDisplay.from_predictions([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5])
    >>> display.x.tolist()
    [0.25, 0.5, 1.0]
    """

    xlabel = "coverage (share of cases accepted)"
    ylabel = "risk on accepted cases"

    @staticmethod
    def _curve(y_true: Any, y_pred: Any, score: Any, **options: Any) -> tuple[Floats, Floats, Floats]:
        return risk_coverage_curve(y_true, y_pred, score, **options)

    @classmethod
    def _legend_name(cls, name: str | None, y_true: Any, y_pred: Any, score: Any, **options: Any) -> str:
        area = aurc_score(y_true, y_pred, score, **options)
        return f"{name} (AURC {area:.3g})" if name else f"AURC {area:.3g}"

    def plot(self, ax: Any = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the curve and mark the model's own operating point."""
        super().plot(ax, name=name, **line_options)
        heights = [
            line.get_ydata()[line.get_xdata() >= 0.05] for line in self.ax_.get_lines() if len(line.get_xdata()) > 1
        ]
        top = max((float(height.max()) for height in heights if len(height)), default=0.0)
        self.ax_.set_ylim(0.0, 1.1 * top or 1.0)
        return self


class AccuracyRejectionDisplay(_CurveDisplay):
    """Best accuracy on accepted cases against the share rejected: the Pareto front of the operating points.

    The front leaves out the operating points that others beat, so it is an optimistic picture; the model's own point
    need not be on it and is not marked.

    Attributes
    ----------
    x, y : ndarray
        Share rejected and accuracy.
    thresholds : ndarray
        Acceptance score at each point.
    chosen : tuple of float, optional
        The operating point of the model itself: not here.
    name : str, optional
        For the legend.
    ax_, figure_, line_
        What `plot` drew.

    Examples
    --------
    >>> from recuse.plot import AccuracyRejectionDisplay
    >>> display = AccuracyRejectionDisplay.from_predictions([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5])
    >>> display.y.tolist()
    [0.75, 1.0]
    """

    xlabel = "share of cases rejected"
    ylabel = "best accuracy on accepted cases (Pareto front)"
    drawstyle = "steps-post"
    marks_own_point = False

    @staticmethod
    def _curve(y_true: Any, y_pred: Any, score: Any, **options: Any) -> tuple[Floats, Floats, Floats]:
        return accuracy_rejection_curve(y_true, y_pred, score, **options)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the front, over the range of accuracies it has."""
        super().plot(ax, name=name, **line_options)
        self.ax_.autoscale(axis="y")
        return self


class CostCurveDisplay(_CurveDisplay):
    """Expected cost against the share accepted, from manual review of all cases to review of none.

    A dot marks the model's own operating point, a cross the cheapest one on these cases.

    Attributes
    ----------
    x, y : ndarray
        Coverage and cost.
    thresholds : ndarray
        Acceptance score at each point.
    chosen : tuple of float, optional
        The operating point of the model itself.
    name : str, optional
        For the legend.
    ax_, figure_, line_
        What `plot` drew.

    Examples
    --------
    >>> from recuse.plot import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5], costs=0.2)
    >>> display.x.tolist()
    [0.0, 0.25, 0.5, 1.0]
    """

    xlabel = "coverage (0: all cases reviewed, 1: none)"
    ylabel = "expected cost per case"

    @staticmethod
    def _curve(y_true: Any, y_pred: Any, score: Any, **options: Any) -> tuple[Floats, Floats, Floats]:
        return cost_curve(y_true, y_pred, score, **options)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the curve and its lowest point."""
        super().plot(ax, name=name, **line_options)
        best = int(np.argmin(self.y))
        color = self.line_.get_color()
        self.ax_.plot(self.x[best], self.y[best], marker="x", markersize=9, color=color, linestyle="none")
        return self


class RejectConfusionMatrixDisplay:
    """Confusion matrix with a last column for the rejected cases, or one for each kind of rejection (``by_kind=True``).

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes + 1), or (n_classes, n_classes + 2)
        As from `reject_confusion_matrix`.
    labels : list
        The classes.
    reject_label : object
        Name of the last column, where there is one for both kinds.
    ax_, figure_, text_
        What `plot` drew.

    Examples
    --------
    >>> from recuse.plot import RejectConfusionMatrixDisplay
    >>> display = RejectConfusionMatrixDisplay.from_predictions([0, 0, 1, 1], [0, 1, -1, 1], reject_label=-1)
    >>> display.matrix.tolist()
    [[1, 1, 0], [0, 1, 1]]
    """

    def __init__(self, matrix: NDArray[Any], labels: list[Any], reject_label: Any = "rejected") -> None:
        self.matrix, self.labels, self.reject_label = matrix, labels, reject_label

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, ax: Any = None, labels: Any = None, **options: Any
    ) -> RejectConfusionMatrixDisplay:
        """Compute and draw from outcomes and answers; parameters as in `reject_confusion_matrix`."""
        matrix = reject_confusion_matrix(y_true, y_pred, labels=labels, **options)
        if labels is None:
            labels = getattr(y_pred, "classes", np.unique(np.asarray(y_true)))
        return cls(matrix, [to_python(label) for label in labels]).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> RejectConfusionMatrixDisplay:
        """Compute and draw from a fitted reject-option classifier, or a Pipeline or search that ends in one."""
        return cls.from_predictions(y, decide(estimator, X, reasons=False), ax=ax, **options)

    def plot(self, ax: Any = None) -> RejectConfusionMatrixDisplay:
        """Draw the matrix: right answers blue, wrong ones orange, rejections grey; the larger the share, the darker."""
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        n, columns = len(self.labels), self.matrix.shape[1]
        rejected = [self.reject_label] if columns == n + 1 else list(KINDS[1:])
        totals = self.matrix.sum(axis=1, keepdims=True)
        shares = np.divide(self.matrix, totals, out=np.zeros(self.matrix.shape), where=totals > 0)
        colors = [[BLUE if i == j else _GREY if j >= n else ORANGE for j in range(columns)] for i in range(n)]
        self.text_ = np.empty(self.matrix.shape, dtype=object)
        for (i, j), value in np.ndenumerate(self.matrix):
            # A tint, never the full colour: black text stays readable on it.
            self.ax_.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=colors[i][j], alpha=0.6 * shares[i, j])
            count = f"{value:.0f}\n" if float(value).is_integer() and value > 1 else ""
            shown = f"{count}{shares[i, j]:.1%}"
            self.text_[i, j] = self.ax_.text(j, i, shown, ha="center", va="center")
        self.ax_.set(
            xticks=range(columns),
            yticks=range(n),
            xticklabels=[*self.labels, *rejected],
            yticklabels=self.labels,
            xlabel="answer (share of each outcome)",
            ylabel="outcome",
            xlim=(-0.5, columns - 0.5),
            ylim=(n - 0.5, -0.5),
            aspect="equal",
        )
        return self
