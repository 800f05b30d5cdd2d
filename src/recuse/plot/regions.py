"""Display of what a reject-option classifier answers where, over two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Indices
from ..decisions import Decisions
from ..labels import to_python
from ..locating import decide_with_probability, locate
from .axes import axes_or_new

# Okabe and Ito's colours, which colour-blind readers can tell apart; rejections are grey, and hatched.
_CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
_AMBIGUITY, _NOVELTY = "#555555", "#E5E5E5"


class RejectRegionDisplay:
    """The regions of a classifier over two features: each class, ambiguity (dark, hatched), novelty (light, dotted).

    Parameters
    ----------
    x, y : ndarray of shape (n_columns,), (n_rows,)
        Values of the two features on the grid.
    regions : ndarray of int of shape (n_rows, n_columns)
        The answer at each point: a class number, then ambiguity, then novelty.
    classes : sequence
        The classes, as shown.
    names : sequence of two str
        Names of the two features.
    cases : ndarray of shape (n_cases, 2), optional
        Cases to show.
    truth : ndarray of int of shape (n_cases,), optional
        Their class numbers; other numbers are shown as crosses.

    Attributes
    ----------
    ax_, figure_
        What `plot` drew on.

    Examples
    --------
    >>> from recuse import CoupledOneClassSVC
    >>> from recuse.datasets import make_gaussian_classes
    >>> from recuse.plot import RejectRegionDisplay
    >>> X, y = make_gaussian_classes(200, 2, separation=3, random_state=0)
    >>> model = CoupledOneClassSVC().fit(X, y)
    >>> display = RejectRegionDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    """

    def __init__(
        self,
        x: Floats,
        y: Floats,
        regions: Indices,
        classes: Sequence[Any],
        names: Sequence[str],
        cases: Floats | None = None,
        truth: Indices | None = None,
    ) -> None:
        self.x, self.y, self.regions = x, y, regions
        self.classes, self.names = classes, names
        self.cases, self.truth = cases, truth

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[int | str] = (0, 1),
        resolution: int = 200,
        margin: float = 0.25,
        ax: Any = None,
        max_cases: int = 500,
    ) -> Self:
        """Let a fitted classifier answer at every point of a grid, and draw its answers.

        Parameters
        ----------
        estimator : fitted reject-option classifier, or a Pipeline or search that ends in one
            The model whose regions are shown.
        X : array-like of shape (n_samples, n_features)
            Cases that set the range of the grid, with all features the estimator needs. Features that are not shown are
            held at their medians.
        y : array-like of shape (n_samples,), optional
            Their classes; if given, the cases are drawn.
        features : pair of int or str, default=(0, 1)
            Which two features, by position or name.
        resolution : int, default=200
            Points of the grid along each axis.
        margin : float, default=0.25
            How far the grid reaches beyond the cases on each side, as a share of their range.
        ax : matplotlib axes, optional
            Where to draw.
        max_cases : int, default=500
            Largest number of cases drawn, evenly spaced among those given.
        """
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        chosen, names = _two_features(X, values, features)
        x, z = (_axis(values[:, column], margin, resolution) for column in chosen)
        points = np.tile(np.nanmedian(values, axis=0), (resolution**2, 1))
        points[:, chosen[0]], points[:, chosen[1]] = (axis.ravel() for axis in np.meshgrid(x, z))
        decisions, _ = decide_with_probability(estimator, _as_table_like(X, points), reasons=False)
        cases = truth = None
        if y is not None:
            rows = np.unique(np.linspace(0, len(values) - 1, max_cases).astype(np.intp))
            cases = values[rows][:, chosen]
            truth = _class_numbers(locate(estimator)[0].classes_, np.asarray(y)[rows])
        regions = _region_numbers(decisions).reshape(resolution, resolution)
        return cls(x, z, regions, _class_names(decisions), names, cases, truth).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        points: Any,
        y_pred: Decisions,
        *,
        X: Any = None,
        y: Any = None,
        names: Sequence[str] = ("x0", "x1"),
        ax: Any = None,
    ) -> Self:
        """Draw answers that are already known, such as those of a model that runs elsewhere.

        Parameters
        ----------
        points : array-like of shape (n_points, 2)
            The points of a rectangular grid, in any order.
        y_pred : Decisions
            The answers at these points.
        X, y : array-like of shape (n_cases, 2), (n_cases,), optional
            Cases to draw, and their classes.
        names : pair of str, default=("x0", "x1")
            Names of the two features.
        ax : matplotlib axes, optional
            Where to draw.
        """
        if not isinstance(y_pred, Decisions):
            raise TypeError(f"y_pred must be a Decisions table, as `decide` gives it; got {type(y_pred).__name__}.")
        x, z, order = _grid(np.asarray(points, dtype=np.float64), len(y_pred))
        if (X is None) != (y is None):
            raise ValueError("X and y go together: give the cases to draw and their classes, or neither.")
        cases = None if X is None else np.asarray(X, dtype=np.float64)
        truth = None if y is None else _class_numbers(y_pred.classes, np.asarray(y))
        regions = _region_numbers(y_pred)[order].reshape(len(z), len(x))
        return cls(x, z, regions, _class_names(y_pred), names, cases, truth).plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw the regions and the cases."""
        self.ax_ = axes_or_new(ax, layout="constrained")
        self.figure_ = self.ax_.figure
        n = len(self.classes)
        tints = [*(_tint(_CLASSES[i % len(_CLASSES)]) for i in range(n)), _AMBIGUITY, _NOVELTY]
        self._draw_regions(tints)
        for code, hatch, colour in ((n, "///", "white"), (n + 1, "..", "#999999")):
            self._hatch(code, hatch, colour)
        self._draw_cases()
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
        if legend:
            self._legend(tints)
        return self

    def _draw_regions(self, tints: list[str]) -> None:
        """Draw every point of the grid in the colour of its answer."""
        from matplotlib.colors import ListedColormap

        self.ax_.imshow(
            self.regions,
            origin="lower",
            extent=(self.x[0], self.x[-1], self.y[0], self.y[-1]),
            aspect="auto",
            interpolation="nearest",
            cmap=ListedColormap(tints),
            vmin=-0.5,
            vmax=len(tints) - 0.5,
        )

    def _hatch(self, code: int, hatch: str, colour: str) -> None:
        """Hatch one region, so that it can be told apart in black and white too."""
        inside = (self.regions == code).astype(float)
        if not inside.any():
            return
        drawn = self.ax_.contourf(self.x, self.y, inside, levels=[0.5, 1.5], colors="none", hatches=[hatch])
        drawn.set_edgecolor(colour)
        drawn.set_linewidth(0.0)

    def _draw_cases(self) -> None:
        """Draw the cases, a marker per class."""
        if self.cases is None or self.truth is None:
            return
        for code in np.unique(self.truth).tolist():
            rows, known = self.truth == code, code < len(self.classes)
            self.ax_.scatter(
                *self.cases[rows].T,
                s=18,
                **(_mark(code) if known else {"marker": "x", "color": "black"}),
                edgecolors="white" if known else None,
                linewidths=0.5 if known else 1.0,
            )

    def _legend(self, tints: list[str]) -> None:
        """Draw a legend of the regions and classes that occur."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        names = [*(str(label) for label in self.classes), "ambiguity", "novelty"]
        hatches = [*[None] * len(self.classes), "////", "..."]
        edges = [*["none"] * len(self.classes), "white", "#999999"]
        entries: list[Any] = [
            Patch(facecolor=tint, hatch=hatch, edgecolor=edge, label=name)
            for code, (tint, hatch, edge, name) in enumerate(zip(tints, hatches, edges, names, strict=True))
            if (self.regions == code).any()
        ]
        if self.truth is not None and self.cases is not None:
            marks = [code for code in np.unique(self.truth).tolist() if code < len(self.classes)]
            entries += [Line2D([], [], linestyle="", **_mark(code), label=f"case of {names[code]}") for code in marks]
        self.ax_.legend(handles=entries, fontsize="small", loc="best", framealpha=0.9)


def _region_numbers(decisions: Decisions) -> Indices:
    """Region of each answer: the class number, then one number for ambiguity, then one for novelty."""
    codes = np.searchsorted(decisions.classes, decisions.forced)
    return np.where(decisions.accepted, codes, len(decisions.classes) + (decisions.kind == "novelty"))


def _class_names(decisions: Decisions) -> list[Any]:
    """The classes, as shown."""
    return [to_python(label) for label in decisions.classes]


def _grid(points: Floats, n_answers: int) -> tuple[Floats, Floats, Indices]:
    """Both axes of a rectangular grid, and the order that sorts its points row by row."""
    if points.shape != (n_answers, 2):
        raise ValueError(
            f"points must have two columns and a row for each answer: ({n_answers}, 2), got {points.shape}."
        )
    x, z = np.unique(points[:, 0]), np.unique(points[:, 1])
    order = np.lexsort(points.T)
    full = np.column_stack([axis.ravel() for axis in np.meshgrid(x, z)])
    if full.shape != points.shape or not np.array_equal(points[order], full):
        raise ValueError(
            f"points must be a rectangular grid: {len(x)} values of the first feature and {len(z)} of the second make "
            f"{len(full)} points, each once; got {len(points)}."
        )
    return x, z, order


def _mark(code: int) -> dict[str, Any]:
    """Marker and colour of the cases of a class."""
    return {"marker": _MARKERS[code % len(_MARKERS)], "color": _CLASSES[code % len(_CLASSES)]}


def _two_features(X: Any, values: Floats, features: Sequence[int | str]) -> tuple[list[int], list[str]]:
    """Positions and names of the two features."""
    known = [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{i}" for i in range(values.shape[1])]
    if len(features) != 2:
        raise ValueError(f"features must name two features; got {features!r}.")
    chosen = []
    for feature in features:
        if isinstance(feature, str) and feature in known:
            chosen.append(known.index(feature))
        elif not isinstance(feature, str) and 0 <= feature < len(known):
            chosen.append(int(feature))
        else:
            raise ValueError(f"features: {feature!r} is none of the {len(known)} features {', '.join(known[:10])}.")
    return chosen, [known[column] for column in chosen]


def _axis(values: Floats, margin: float, count: int) -> Floats:
    """Values of a feature along the grid."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    pad = margin * (high - low) or 1.0
    return np.linspace(low - pad, high + pad, count)


def _as_table_like(X: Any, points: Floats) -> Any:
    """The points as a table of the same kind, for estimators that use feature names."""
    if not hasattr(X, "columns"):
        return points
    return type(X)({name: points[:, column] for column, name in enumerate(X.columns)})


def _class_numbers(classes: NDArray[Any], y: NDArray[Any]) -> Indices:
    """Position of each label among the classes; for other labels the number of classes."""
    known = {to_python(label): code for code, label in enumerate(classes)}
    return np.array([known.get(to_python(label), len(classes)) for label in y], dtype=np.intp)


def _tint(colour: str, share: float = 0.45) -> str:
    """A colour mixed with white, for a region behind markers of that colour."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)
