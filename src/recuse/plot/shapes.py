"""Display of the additive form of a boosted model: what each feature adds to the two scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..labels import to_python
from ..locating import column_names, locate
from .axes import BLUE, ORANGE, import_pyplot, shortened

_COLUMNS = 3
_TICKS = 4  # intervals between numbers on the axis of a feature
_FEW_LEVELS = 6  # values of a column up to which each has its own mark
_MOST_LEVELS = 12  # levels of a category with bars of their own
_WIDEST_TICKS = 40  # characters of all levels that fit below a panel
_MISSING_SHARE = 0.12  # width of the strip for missing values, in widths of the panel
_SHARES = np.array(
    [0.005, *np.arange(0.1, 1.0, 0.1), 0.995]
)  # quantiles: the range of a panel, and the deciles between


class ShapeFunctionDisplay:
    """One panel per feature: what it adds to the class score h and to the acceptance score r.

    The darker the background, the more a value argues for rejection. A category has a pair of bars for each level, from
    the level that adds least to h to the one that adds most; of more than twelve levels, for the most frequent ones.

    Parameters
    ----------
    shapes : list
        Shape functions of a fitted model, each with `feature`, `cuts`, `h`, `r`, `missing` and, for categories,
        `levels`.
    names : list of str
        Name of each column.
    quantiles : ndarray of shape (n_features, n), optional
        Increasing values of each column: a panel spans the first to the last, and further where the cuts require it;
        the others are marked at the bottom. Without quantiles the panels end a little beyond the cuts.
    missing : ndarray of bool of shape (n_features,), optional
        Columns with missing values, whose panels show at the right what a missing value adds; by default those where it
        changes the class score.
    levels : list of ndarray or None, optional
        For each column with few distinct values, such as 0 and 1, those values, to be marked on the axis; else None.
    towards : str, optional
        The class that a higher class score speaks for.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One per feature drawn, the most important first.
    figure_ : matplotlib figure
        The figure that holds them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import AbstentionBoostingClassifier
    >>> from recuse.plot import ShapeFunctionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AbstentionBoostingClassifier(costs=0.1, family="coupled", beta=0.02, random_state=0).fit(X, y)
    >>> display = ShapeFunctionDisplay.from_estimator(model, X, max_features=3)  # doctest: +SKIP
    """

    def __init__(
        self,
        shapes: list[Any],
        names: list[str],
        quantiles: Floats | None = None,
        missing: Flags | None = None,
        levels: list[Floats | None] | None = None,
        towards: str | None = None,
    ) -> None:
        self.shapes, self.names, self.quantiles, self.missing = shapes, names, quantiles, missing
        self.levels, self.towards = levels, towards

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
            Cases whose range of values the panels span, except for one in 200 at either end; marks are their deciles.
        max_features : int, default=6
            Largest number of panels.
        axes : array of matplotlib axes, optional
            Where to draw, one per panel.
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
        if len(classifier.classes_) > 2:
            raise ValueError(
                f"Shape functions are drawn for two classes; this model has {len(classifier.classes_)}: see "
                "shape_functions_ and shape_table()."
            )
        known = column_names(estimator)
        n = classifier.n_features_in_
        names = [f"x{i}" for i in range(n)] if known is None else [str(name) for name in known]
        if X is not None and hasattr(classifier, "_numbers"):
            X = classifier._numbers(X)  # categories by the number of their level
        values = None if X is None else np.asarray(X, dtype=float)
        quantiles = None if values is None else np.nanquantile(values, _SHARES, axis=0).T
        missing = None if values is None else np.isnan(values).any(axis=0)
        levels = None if values is None else [_levels(column) for column in values.T]
        towards = repr(to_python(classifier.classes_[1]))
        display = cls(
            getattr(classifier, attribute), [*names, "stacked score"], quantiles, missing, levels, towards=towards
        )
        return display.plot(max_features, axes=axes)

    def importance(self) -> Floats:
        """How much each feature can change the two scores, added up."""
        return np.array([np.ptp(shape.h) + np.ptp(shape.r) for shape in self.shapes])

    def plot(self, max_features: int = 6, *, axes: Any = None) -> Self:
        """Draw the panels."""
        chosen = np.argsort(-self.importance(), kind="stable")[:max_features]
        own = axes is None
        if own:
            axes = _grid(len(chosen))
        self.axes_ = np.atleast_1d(axes)
        self.figure_ = self.axes_[0].figure
        # Shades show how strongly a value argues for rejection, on one scale for all panels.
        darkest = max([float(-self.shapes[i].r.min()) for i in chosen.tolist()], default=0.0)
        for ax, position in zip(self.axes_, chosen.tolist(), strict=False):
            self._panel(ax, self.shapes[position], darkest)
        for ax in self.axes_[len(chosen) :]:
            ax.set_axis_off()
        if len(chosen):
            for ax in self.axes_[::_COLUMNS] if own else self.axes_[:1]:
                ax.set_ylabel("added to the score" + (f"\n(h: towards {self.towards})" if self.towards else ""))
            if own:
                handles, labels = self.axes_[0].get_legend_handles_labels()
                self.figure_.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
            else:
                self.axes_[0].legend(frameon=False, fontsize="small")
        return self

    def _panel(self, ax: Any, shape: Any, darkest: float) -> None:
        """Draw one feature."""
        from matplotlib.ticker import MaxNLocator

        if getattr(shape, "levels", ()):
            self._bars(ax, shape)
            return
        low, high = self._range(shape)
        edges = np.concatenate([[low], np.clip(shape.cuts, low, high), [high]])
        ax.axhline(0.0, color="0.8", linewidth=0.8)
        rejects = self._rejects
        curves = [(shape.h, BLUE, "class score h"), (shape.r, ORANGE, "acceptance score r")]
        for values, color, label in curves if rejects else curves[:1]:
            ax.stairs(values, edges, baseline=None, color=color, label=label, linewidth=1.5)
        for start, stop, r in zip(edges[:-1], edges[1:], shape.r, strict=True):
            if r < 0 and stop > start:
                ax.axvspan(start, stop, color=ORANGE, alpha=0.25 * float(-r) / darkest, linewidth=0)
        levels = self._levels_of(shape)
        if levels is None and self.quantiles is not None and shape.feature < len(self.quantiles):
            marks = self.quantiles[shape.feature, 1:-1]
            ax.plot(marks, np.zeros(len(marks)), "|", color="0.4", transform=ax.get_xaxis_transform(), clip_on=False)
        right = high
        if self._has_missing(shape):
            right = high + _MISSING_SHARE * (high - low)
            _draw_missing(ax, high, right, shape.missing if rejects else shape.missing[:1])
        ax.set_xlabel(self.names[shape.feature])
        ax.set_xlim(low, right)
        ticks = MaxNLocator(_TICKS).tick_values(low, high) if levels is None else levels
        # The word "missing" takes the place of a number at the right end.
        last = high if right == high else low + 0.8 * (high - low)
        ax.set_xticks([tick for tick in ticks if low <= tick <= last])

    def _bars(self, ax: Any, shape: Any) -> None:
        """Draw a category: bars for its levels, and for missing values where there are any."""
        rejects = self._rejects
        shown = np.arange(len(shape.levels))
        if len(shown) > _MOST_LEVELS:
            share = np.zeros(len(shown)) if shape.share is None else shape.share[:-1]
            shown = np.sort(np.argsort(-share, kind="stable")[:_MOST_LEVELS])
        shown = shown[np.argsort(shape.h[shown], kind="stable")]
        h, r, ticks = shape.h[shown], shape.r[shown], [shortened(shape.levels[i]) for i in shown.tolist()]
        if self._has_missing(shape):
            h, r, ticks = np.append(h, shape.missing[0]), np.append(r, shape.missing[1]), [*ticks, "missing"]
        at, width = np.arange(len(ticks)), 0.38 if rejects else 0.7
        ax.axhline(0.0, color="0.8", linewidth=0.8)
        ax.bar(at - width / 2 * rejects, h, width, color=BLUE, label="class score h")
        if rejects:
            ax.bar(at + width / 2, r, width, color=ORANGE, label="acceptance score r")
        steep = len(ticks) * max(map(len, ticks)) > _WIDEST_TICKS
        ax.set_xticks(at, ticks, rotation=35 if steep else 0, ha="right" if steep else "center", fontsize="small")
        hidden = len(shape.levels) - len(shown)
        ax.set_xlabel(self.names[shape.feature] + (f" ({hidden} rarer levels not shown)" if hidden else ""))
        ax.set_xlim(-0.6, len(ticks) - 0.4)

    @property
    def _rejects(self) -> bool:
        """Whether there is an r to draw: models without a rejector have none."""
        return any(s.r.any() or s.missing[1] for s in self.shapes)

    def _has_missing(self, shape: Any) -> bool:
        """Whether the panel shows what a missing value adds."""
        if self.missing is None:
            return bool(shape.missing[0] != 0.0)
        return bool(shape.feature < len(self.missing) and self.missing[shape.feature])

    def _levels_of(self, shape: Any) -> Floats | None:
        """The few distinct values of a column, if known."""
        if self.levels is None or shape.feature >= len(self.levels):
            return None
        return self.levels[shape.feature]

    def _range(self, shape: Any) -> tuple[float, float]:
        """Lowest and highest value that the panel shows."""
        cuts, levels = shape.cuts, self._levels_of(shape)
        if levels is not None:  # every value in the middle of its step
            low = levels[0] - (levels[1] - levels[0]) / 2
            high = levels[-1] + (levels[-1] - levels[-2]) / 2
        elif self.quantiles is not None and shape.feature < len(self.quantiles):
            low, high = self.quantiles[shape.feature, [0, -1]]
        elif len(cuts):
            pad = 0.1 * (cuts[-1] - cuts[0]) or 1.0
            low, high = cuts[0] - pad, cuts[-1] + pad
        else:
            low, high = 0.0, 1.0
        if len(cuts):
            low, high = min(low, cuts[0]), max(high, cuts[-1])
        return float(low), float(high if high > low else low + 1.0)


def _levels(column: Floats) -> Floats | None:
    """Distinct values of a column where there are two or a few."""
    values = np.unique(column[~np.isnan(column)])
    return values if 2 <= len(values) <= _FEW_LEVELS else None


def _draw_missing(ax: Any, left: float, right: float, added: tuple[float, ...]) -> None:
    """Draw a strip at the right of a panel, with what a missing value adds."""
    ax.axvspan(left, right, color="0.93", linewidth=0)
    for value, color in zip(added, (BLUE, ORANGE), strict=False):
        ax.plot([left + 0.2 * (right - left), right - 0.2 * (right - left)], [value, value], color=color, linewidth=3)
    below = {"xycoords": "axes fraction", "xytext": (0, -4), "textcoords": "offset points", "va": "top"}
    ax.annotate("missing", (1.0, 0.0), ha="right", fontsize="small", **below)


def _grid(n: int) -> NDArray[Any]:
    """Axes for n panels, in a new figure."""
    columns = min(_COLUMNS, max(n, 1))
    rows = max(1, -(-n // columns))
    size = (4 * columns, 3 * rows + 0.4)
    _, grid = import_pyplot().subplots(rows, columns, figsize=size, squeeze=False, sharey=True, layout="constrained")
    axes: NDArray[Any] = grid.ravel()
    return axes
