"""Display of the additive form of a boosted model: what each feature adds to the two scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..decisions import locate

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind readers too


class ShapeFunctionDisplay:
    """One panel a feature: its contribution to the class score h and to the acceptance score r.

    Parameters
    ----------
    shapes : list
        Shape functions of a fitted model, each with `feature`, `cuts`, `h`, `r` and `missing`.
    names : list of str
        Name of each column.
    ranges : ndarray of shape (n_features, 2), optional
        Smallest and largest value of each column, as far as the panels reach; else a little beyond the cuts.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One a feature drawn, the most important first.
    figure_ : matplotlib figure
        What they are in.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import AbstentionBoostingClassifier
    >>> from recuse.plot import ShapeFunctionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AbstentionBoostingClassifier(costs=0.1, family="coupled", beta=0.02, random_state=0).fit(X, y)
    >>> display = ShapeFunctionDisplay.from_estimator(model, X, max_features=3)  # doctest: +SKIP
    """

    def __init__(self, shapes: list[Any], names: list[str], ranges: NDArray[np.float64] | None = None) -> None:
        self.shapes, self.names, self.ranges = shapes, names, ranges

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, max_features: int = 6, axes: Any = None, score: bool = False
    ) -> Self:
        """Draw the shape functions of a fitted model, the most important features first.

        Parameters
        ----------
        estimator : fitted classifier with `shape_functions_`, or a Pipeline or search that ends in one
            Boosted stumps; trees have no such form.
        X : array-like, optional
            Cases whose range of values the panels show.
        max_features : int, default=6
            Panels at most.
        axes : array of matplotlib axes, optional
            Where to draw, one a panel.
        score : bool, default=False
            Draw the stacked score's own functions, `score_functions_`, instead.
        """
        classifier, X = locate(estimator, X)
        attribute = "score_functions_" if score else "shape_functions_"
        if not hasattr(classifier, attribute):
            raise TypeError(
                f"{type(classifier).__name__} has no {attribute}: only boosted stumps have an additive form "
                "(max_depth=1)."
            )
        known = getattr(classifier, "feature_names_in_", None)
        n = classifier.n_features_in_
        names = [f"x{i}" for i in range(n)] if known is None else [str(name) for name in known]
        values = None if X is None else np.asarray(X, dtype=float)
        ranges = None if values is None else np.column_stack([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])
        return cls(getattr(classifier, attribute), [*names, "stacked score"], ranges).plot(max_features, axes=axes)

    def importance(self) -> NDArray[np.float64]:
        """How far each feature can move the two scores together."""
        return np.array([np.ptp(shape.h) + np.ptp(shape.r) for shape in self.shapes])

    def plot(self, max_features: int = 6, *, axes: Any = None) -> Self:
        """Draw the panels."""
        chosen = np.argsort(-self.importance(), kind="stable")[:max_features]
        if axes is None:
            try:
                from matplotlib import pyplot as plt
            except ImportError:
                raise ImportError("Drawing needs matplotlib: pip install 'recuse[plot]'.") from None
            columns = min(3, max(len(chosen), 1))
            rows = max(1, -(-len(chosen) // columns))
            self.figure_, grid = plt.subplots(
                rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, sharey=True, layout="constrained"
            )
            axes = grid.ravel()
        self.axes_ = np.atleast_1d(axes)
        self.figure_ = self.axes_[0].figure
        for ax, position in zip(self.axes_, chosen.tolist(), strict=False):
            self._panel(ax, self.shapes[position])
        for ax in self.axes_[len(chosen) :]:
            ax.set_axis_off()
        if len(chosen):
            self.axes_[0].set_ylabel("added to the score")
            self.axes_[0].legend(frameon=False, fontsize="small")
        return self

    def _panel(self, ax: Any, shape: Any) -> None:
        low, high = self._reach(shape)
        edges = np.concatenate([[low], np.clip(shape.cuts, low, high), [high]])
        ax.axhline(0.0, color="0.8", linewidth=0.8)
        lines = [(shape.h, _BLUE, "class score h")]
        if any(np.any(other.r) for other in self.shapes):  # some models have no acceptance score of this form
            lines.append((shape.r, _ORANGE, "acceptance score r"))
        for values, color, label in lines:
            ax.stairs(values, edges, baseline=None, color=color, label=label, linewidth=1.5)
        rejecting = edges[:-1], edges[1:], shape.r < 0
        for start, stop, shaded in zip(*rejecting, strict=True):
            if shaded and stop > start:
                ax.axvspan(start, stop, color=_ORANGE, alpha=0.08, linewidth=0)
        ax.set_xlabel(self.names[shape.feature])
        ax.set_xlim(low, high)

    def _reach(self, shape: Any) -> tuple[float, float]:
        cuts = shape.cuts
        if self.ranges is not None and shape.feature < len(self.ranges):
            low, high = self.ranges[shape.feature]
        elif len(cuts):
            pad = 0.1 * (cuts[-1] - cuts[0]) or 1.0
            low, high = cuts[0] - pad, cuts[-1] + pad
        else:
            low, high = 0.0, 1.0
        if len(cuts):
            low, high = min(low, cuts[0]), max(high, cuts[-1])
        return float(low), float(high if high > low else low + 1.0)
