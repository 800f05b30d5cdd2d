"""Display of pair terms: heat maps of what two features together add to the two scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..labels import to_python
from ..locating import column_names, locate
from .axes import import_pyplot, shortened

_MISSING_SHARE = 0.12  # width of the strip for missing values, in widths of the panel
_RANGE = (0.005, 0.995)  # quantiles that a panel spans
_TICKS = 4  # intervals between numbers on an axis
_COLORS = "PuOr"  # orange below 0, purple above; white adds nothing
_MOST_NAMED = 40  # levels of a category with a name at the axis
_WIDEST_TICKS = 24  # characters of all levels that fit side by side below a panel
_PANEL = (4.6, 3.4)  # inches, with the words around it
_AROUND = (2.2, 0.9)  # inches of that for these words
_UPRIGHT = 0.7  # inches that names need below a panel if they stand upright
_PER_NAME = 0.16  # inches


class InteractionDisplay:
    """Heat maps of pair terms: what two features together add, beyond what each adds by itself.

    One row of panels per pair: the class score h, and beside it the acceptance score r where there is one. Purple adds
    to a score and orange takes off it. A strip at the right or at the top stands for missing values.

    Panels of categories are as large as the names of their levels need; of more than 40 levels, every second, third or
    further one is named.

    Parameters
    ----------
    surfaces : list
        Pair terms of a fitted model, each with `features`, `cuts`, `h` and `r`.
    names : list of str
        Name of each column.
    reach : ndarray of shape (n_features, 2), optional
        Lowest and highest value of each column that panels show. Without it they end a little beyond the cuts.
    missing : ndarray of bool of shape (n_features,), optional
        Columns with missing values; by default those for which a pair term has something to say.
    towards : str, optional
        The class that a higher class score speaks for.
    levels : dict of int to tuple, optional
        Levels of each column that holds categories.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes of shape (n_pairs, 1 or 2)
        The strongest pair first; the second column is for r.
    figure_ : matplotlib figure
        The figure that holds them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import AbstentionBoostingClassifier
    >>> from recuse.plot import InteractionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AbstentionBoostingClassifier(costs=0.1, family="chow", beta=0.02, interactions=[(0, 1)]).fit(X, y)
    >>> display = InteractionDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    def __init__(
        self,
        surfaces: list[Any],
        names: list[str],
        reach: Floats | None = None,
        missing: Flags | None = None,
        towards: str | None = None,
        levels: dict[int, tuple[Any, ...]] | None = None,
    ) -> None:
        self.surfaces, self.names, self.reach, self.missing, self.towards = surfaces, names, reach, missing, towards
        self.levels = levels or {}

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, max_pairs: int = 4, axes: Any = None) -> Self:
        """Draw the pair terms of a fitted model, the strongest first.

        Parameters
        ----------
        estimator : fitted classifier with `interaction_functions_`, or a Pipeline or search that ends in one
            Boosted stumps with pair terms.
        X : array-like, optional
            Cases whose range of values the panels span, except for one in 200 at either end.
        max_pairs : int, default=4
            Largest number of pairs.
        axes : array of matplotlib axes, optional
            Where to draw: one row per pair, with one or two columns.
        """
        classifier, X = locate(estimator, X)
        surfaces = getattr(classifier, "interaction_functions_", [])
        if not surfaces:
            raise TypeError(
                f"This {type(classifier).__name__} has no pair terms: fit AbstentionBoostingClassifier with "
                "interactions, such as interactions=5."
            )
        known = column_names(estimator)
        names = [f"x{i}" for i in range(classifier.n_features_in_)] if known is None else [str(name) for name in known]
        levels = getattr(classifier, "categories_", {})
        # Categories by the numbers of their levels.
        values = None if X is None else np.asarray(classifier._numbers(X) if levels else X, dtype=float)
        reach = None if values is None else np.nanquantile(values, _RANGE, axis=0).T
        missing = None if values is None else np.isnan(values).any(axis=0)
        display = cls(surfaces, names, reach, missing, repr(to_python(classifier.classes_[1])), levels)
        return display.plot(max_pairs, axes=axes)

    def importance(self) -> Floats:
        """How much each pair can change the two scores, added up."""
        return np.array([np.ptp(surface.h) + np.ptp(surface.r) for surface in self.surfaces])

    def plot(self, max_pairs: int = 4, *, axes: Any = None) -> Self:
        """Draw the panels."""
        chosen = [self.surfaces[i] for i in np.argsort(-self.importance(), kind="stable")[:max_pairs].tolist()]
        rejects = any(surface.r.any() for surface in self.surfaces)  # models without a rejector have no r to draw
        scores = ("h", "r") if rejects else ("h",)
        if axes is None:
            width, height = self._panel_size(chosen)
            size = (width * len(scores), height * max(len(chosen), 1))
            _, axes = import_pyplot().subplots(
                max(len(chosen), 1), len(scores), figsize=size, squeeze=False, layout="constrained"
            )
        self.axes_ = np.atleast_1d(axes).reshape(-1, len(scores))
        self.figure_ = self.axes_[0, 0].figure
        for column, score in enumerate(scores):
            # One scale of colors for a score: panels can be compared.
            darkest = max(float(np.abs(getattr(surface, score)).max()) for surface in chosen) or 1.0
            for ax, surface in zip(self.axes_[:, column], chosen, strict=False):
                drawn = self._panel(ax, surface, getattr(surface, score), darkest)
                self.figure_.colorbar(drawn, ax=ax, label=self._label(score))
        return self

    def _panel_size(self, chosen: list[Any]) -> tuple[float, float]:
        """Width and height at which the names of all levels fit beside the panels."""
        named = [
            [_names(self.levels.get(pair.features[axis], ()), self._has_missing(pair, axis)) for pair in chosen]
            for axis in (0, 1)
        ]
        width, height = (
            max([least, *(around + _PER_NAME * len(names) for names in of_axis)])
            for least, around, of_axis in zip(_PANEL, _AROUND, named, strict=True)
        )
        return width, height + _UPRIGHT * any(map(_stand_upright, named[0]))

    def _label(self, score: str) -> str:
        """What the colors of a score mean."""
        if score == "r":
            return "added to the acceptance score r"
        return "added to the class score h" + (f"\n(towards {self.towards})" if self.towards else "")

    def _panel(self, ax: Any, surface: Any, table: Floats, darkest: float) -> Any:
        """Draw one pair."""
        edges, shown = [], table
        for axis, (feature, cuts) in enumerate(zip(surface.features, surface.cuts, strict=True)):
            has_missing = self._has_missing(surface, axis)
            edges.append(self._edges(feature, cuts, has_missing))
            if not has_missing:
                shown = shown.take(range(len(cuts) + 1), axis=axis)
        drawn = ax.pcolormesh(*edges, shown.T, cmap=_COLORS, vmin=-darkest, vmax=darkest)
        for axis, name in enumerate("xy"):
            feature, cuts = surface.features[axis], surface.cuts[axis]
            has_missing = len(cuts) + 2 < len(edges[axis])
            _decorate(getattr(ax, f"{name}axis"), edges[axis], has_missing, self.levels.get(feature))
            getattr(ax, f"set_{name}label")(self.names[feature])
            getattr(ax, f"set_{name}lim")(edges[axis][0], edges[axis][-1])
        return drawn

    def _has_missing(self, surface: Any, axis: int) -> bool:
        """Whether a panel has a strip for missing values of a feature."""
        if self.missing is None:
            return bool(surface.h.take(-1, axis=axis).any() or surface.r.take(-1, axis=axis).any())
        return bool(self.missing[surface.features[axis]])

    def _edges(self, feature: int, cuts: Floats, has_missing: bool) -> Floats:
        """Borders of the cells of a feature, with those of the strip for missing values."""
        if feature in self.levels:
            low, high = -0.5, len(self.levels[feature]) - 0.5
        elif self.reach is not None:
            low, high = self.reach[feature]
        elif len(cuts):
            pad = 0.1 * (cuts[-1] - cuts[0]) or 1.0
            low, high = cuts[0] - pad, cuts[-1] + pad
        else:
            low, high = 0.0, 1.0
        if len(cuts):
            low, high = min(low, cuts[0]), max(high, cuts[-1])
        high = high if high > low else low + 1.0
        strip = [high + _MISSING_SHARE * (high - low)] if has_missing else []
        return np.concatenate([[low], cuts, [high], strip])


def _step(levels: tuple[Any, ...]) -> int:
    """Of very many levels, every how many has its name."""
    return max(1, -(-len(levels) // _MOST_NAMED))


def _names(levels: tuple[Any, ...], has_missing: bool) -> list[str]:
    """What stands at the axis of a category; nothing without levels, at that of numbers."""
    named = [shortened(level) for level in levels[:: _step(levels)]]
    return [*named, "missing"] if named and has_missing else named


def _stand_upright(names: list[str]) -> bool:
    """Whether names are too long to stand side by side below a panel."""
    return len(names) * max(map(len, names), default=0) > _WIDEST_TICKS


def _decorate(axis: Any, edges: NDArray[Any], has_missing: bool, levels: tuple[Any, ...] | None) -> None:
    """Numbers or levels on an axis, and the word "missing" at the strip."""
    from matplotlib.ticker import MaxNLocator

    if levels is not None:
        middles, names = (edges[1:] + edges[:-1]) / 2, _names(levels, has_missing)
        ticks = [*middles[: len(levels) : _step(levels)], *middles[len(levels) :]]
        axis.set_ticks(ticks, names, fontsize="small")
        if axis.axis_name == "x" and _stand_upright(names):
            axis.set_tick_params(rotation=90)
        return
    low, high = edges[0], edges[-2 if has_missing else -1]
    ticks = [tick for tick in MaxNLocator(_TICKS).tick_values(low, high) if low <= tick <= high]
    labels = [f"{tick:g}" for tick in ticks]
    if has_missing:
        kept = [tick for tick in ticks if tick <= low + 0.85 * (high - low)]
        ticks, labels = [*kept, (edges[-1] + edges[-2]) / 2], [*labels[: len(kept)], "missing"]
    axis.set_ticks(ticks, labels)
