"""Display of the edits of a model: what a feature added to the scores before, and what it adds now."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from ..locating import column_names, locate
from .axes import BLUE, ORANGE, import_pyplot
from .surfaces import InteractionDisplay

_COLUMNS = 2
SCORE_NAMES = {"h": "class score h", "r": "acceptance score r"}


class EditDisplay:
    """One panel per edit and score that it changed: the function before, in grey, and after.

    A pair term has two panels, heat maps before and after.

    Parameters
    ----------
    edits : list
        Edits of a fitted model, its `edits_`.
    names : list of str, optional
        Name of each column, for pair terms; "x0", "x1" and so on by default.
    levels : dict of int to tuple, optional
        Levels of each column that holds categories, for pair terms.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One per panel.
    figure_ : matplotlib figure
        The figure that holds them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import AbstentionBoostingClassifier
    >>> from recuse.plot import EditDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AbstentionBoostingClassifier(costs=0.1, family="chow", beta=0.01).fit(X[:400], y[:400])
    >>> edited = model.edit(27, "cap", X[400:], y[400:], at_most=0.5, by="Ada", why="outliers")
    >>> display = EditDisplay.from_estimator(edited)  # doctest: +SKIP
    """

    def __init__(
        self, edits: list[Any], names: list[str] | None = None, levels: dict[int, tuple[Any, ...]] | None = None
    ) -> None:
        self.edits, self.names, self.levels = edits, names, levels

    @classmethod
    def from_estimator(cls, estimator: Any, *, axes: Any = None) -> Self:
        """Draw the edits of a fitted model, from the first to the last.

        Parameters
        ----------
        estimator : fitted classifier with `edits_`, or a Pipeline or search that ends in one
            A boosted model that was edited.
        axes : array of matplotlib axes, optional
            Where to draw, one per panel.
        """
        classifier, _ = locate(estimator)
        edits = getattr(classifier, "edits_", [])
        if not edits:
            raise ValueError(f"This {type(classifier).__name__} was not edited: there is nothing to draw.")
        known = column_names(estimator)
        names = None if known is None else [str(name) for name in known]
        return cls(edits, names, classifier.categories_).plot(axes=axes)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw the panels."""
        panels = [panel for edit in self.edits for panel in _panels(edit)]
        if axes is None:
            rows = max(1, -(-len(panels) // _COLUMNS))
            _, axes = import_pyplot().subplots(
                rows, min(_COLUMNS, max(1, len(panels))), figsize=(9, 3.2 * rows), squeeze=False, layout="constrained"
            )
        self.axes_ = np.atleast_1d(axes).ravel()
        self.figure_ = self.axes_[0].figure
        for ax, panel in zip(self.axes_, panels, strict=False):
            if isinstance(panel, _Surface):
                self._draw_surface(ax, panel)
            else:
                _draw(ax, *panel)
        for ax in self.axes_[len(panels) :]:
            ax.set_axis_off()
        return self

    def _draw_surface(self, ax: Any, panel: _Surface) -> None:
        """A heat map of a pair term; before and after have one scale of colors."""
        table = getattr(panel.surface, panel.score)
        names = self.names or [f"x{f}" for f in range(max(panel.surface.features) + 1)]
        drawn = InteractionDisplay([panel.surface], names, levels=self.levels)._panel(
            ax, panel.surface, table, panel.darkest
        )
        ax.figure.colorbar(drawn, ax=ax, label=f"added to the {SCORE_NAMES[panel.score]}")
        ax.set_title(f"{_title(panel.edit)}\n{panel.when}", fontsize="small")


class _Shape(NamedTuple):
    """A panel for one score of a function of one feature; `after` is None where nothing is left of it."""

    edit: Any
    before: Any
    after: Any
    score: str


class _Surface(NamedTuple):
    """A panel for one score of a pair term, "before" or "after"; `darkest` is the largest amount in either."""

    edit: Any
    surface: Any
    score: str
    when: str
    darkest: float


def _panels(edit: Any) -> list[_Shape | _Surface]:
    """The panels of all functions that an edit changed."""
    panels: list[_Shape | _Surface] = []
    for before, after in matched_functions(edit):
        for score in ("h", "r"):
            if not has_changed(before, after, score):
                continue
            if hasattr(before, "feature"):
                panels.append(_Shape(edit, before, after, score))
                continue
            left = replace(before, **{score: np.zeros_like(before.h)}) if after is None else after
            darkest = float(max(np.abs(getattr(surface, score)).max() for surface in (before, left)))
            panels.append(_Surface(edit, before, score, "before", darkest))
            panels.append(_Surface(edit, left, score, "after", darkest))
    return panels


def matched_functions(edit: Any) -> list[tuple[Any, Any]]:
    """Each function before the edit with what it became, None where nothing is left."""
    became = defaultdict(list)
    for function in edit.after:
        became[_term(function)].append(function)
    before = [_term(function) for function in edit.before]
    # A feature has two functions where a score is stacked; of which one is left, if one is, is not known.
    known = {term for term in became if len(became[term]) == before.count(term)}
    return [
        (function, became[_term(function)].pop(0) if _term(function) in known else None) for function in edit.before
    ]


def _term(function: Any) -> Any:
    """The column or the columns of a function."""
    return function.feature if hasattr(function, "feature") else function.features


def has_changed(before: Any, after: Any, score: str) -> bool:
    """Whether a function that added something to a score, or adds something now, is another one."""
    old, new = _values(before, score), np.zeros(0) if after is None else _values(after, score)
    return bool(old.any() or new.any()) and not (len(old) == len(new) and bool((old == new).all()))


def _values(function: Any, score: str) -> Any:
    """What all cells add to a score, those of missing values among them."""
    values = getattr(function, score).ravel()
    return np.append(values, function.missing["hr".index(score)]) if hasattr(function, "missing") else values


def _draw(ax: Any, edit: Any, before: Any, after: Any, score: str) -> None:
    color, name = BLUE if score == "h" else ORANGE, SCORE_NAMES[score]
    ax.axhline(0.0, color="0.85", linewidth=0.8)
    if before.levels:
        at = np.arange(len(before.levels))
        ax.bar(at - 0.2, getattr(before, score), 0.38, color="0.7", label="before")
        ax.bar(
            at + 0.2, np.zeros(len(at)) if after is None else getattr(after, score), 0.38, color=color, label="after"
        )
        ax.set_xticks(at, [str(level) for level in before.levels], rotation=35, ha="right", fontsize="small")
    else:
        cuts = before.cuts if after is None else np.union1d(before.cuts, after.cuts)
        pad = 0.08 * (cuts[-1] - cuts[0]) or 1.0 if len(cuts) else 1.0
        low, high = (cuts[0] - pad, cuts[-1] + pad) if len(cuts) else (-1.0, 1.0)
        curves = [(before, "0.6", "before", 3.0)] + ([] if after is None else [(after, color, "after", 1.5)])
        for shape, shade, label, width in curves:
            edges = np.concatenate([[low], shape.cuts, [high]])
            ax.stairs(getattr(shape, score), edges, baseline=None, color=shade, label=label, linewidth=width)
        if after is None:
            ax.hlines(0.0, low, high, color=color, label="after", linewidth=1.5)
    # The function of a stacked score is monotonised with that of a feature.
    ax.set_xlabel(edit.term if before.feature == _term(edit.before[0]) else "stacked score")
    ax.set_ylabel(f"added to the {name}", fontsize="small")
    ax.set_title(_title(edit), fontsize="small")
    ax.legend(frameon=False, fontsize="small")


def _title(edit: Any) -> str:
    """What was done, by whom and why, and what it costs."""
    told = f"{edit.action}" + (f", {edit.by}" if edit.by else "") + (f": {edit.why}" if edit.why else "")
    paid = (
        "cost not measured"
        if edit.cost is None
        else f"{edit.cost.change:+.3g} ± {edit.cost.standard_error:.2g} per case"
    )
    return f"{told}\n{paid}"
