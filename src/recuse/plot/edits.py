"""Display of the edits of a model: what a feature added to the scores before, and what it adds now."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..locating import locate
from .axes import BLUE, ORANGE, import_pyplot

_COLUMNS = 2


class EditDisplay:
    """One panel per edit and score that it changed: the function before, in grey, and after.

    Parameters
    ----------
    edits : list
        Edits of a fitted model, its `edits_`.

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

    def __init__(self, edits: list[Any]) -> None:
        self.edits = edits

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
        return cls(edits).plot(axes=axes)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw the panels; pair terms have none."""
        panels = [panel for edit in self.edits for panel in _panels(edit)]
        if axes is None:
            rows = max(1, -(-len(panels) // _COLUMNS))
            _, axes = import_pyplot().subplots(
                rows, min(_COLUMNS, max(1, len(panels))), figsize=(9, 3.2 * rows), squeeze=False, layout="constrained"
            )
        self.axes_ = np.atleast_1d(axes).ravel()
        self.figure_ = self.axes_[0].figure
        for ax, panel in zip(self.axes_, panels, strict=False):
            _draw(ax, *panel)
        for ax in self.axes_[len(panels) :]:
            ax.set_axis_off()
        return self


def _panels(edit: Any) -> list[tuple[Any, Any, Any, str]]:
    """Edit, functions before and after, and score, of each function of a single feature that changed."""
    after = dict(enumerate(edit.after)) if len(edit.after) == len(edit.before) else {}
    return [
        (edit, before, after.get(i), score)
        for i, before in enumerate(edit.before)
        if hasattr(before, "feature")
        for score in ("h", "r")
        if getattr(before, score).any() and not _same(before, after.get(i), score)
    ]


def _same(before: Any, after: Any, score: str) -> bool:
    """Whether a function stayed as it was."""
    if after is None:
        return False
    index = "hr".index(score)
    old, new = getattr(before, score), getattr(after, score)
    return len(old) == len(new) and bool((old == new).all()) and before.missing[index] == after.missing[index]


def _draw(ax: Any, edit: Any, before: Any, after: Any, score: str) -> None:
    color, name = (BLUE, "class score h") if score == "h" else (ORANGE, "acceptance score r")
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
    ax.set_xlabel(edit.term)
    ax.set_ylabel(f"added to the {name}", fontsize="small")
    told = f"{edit.action}" + (f", {edit.by}" if edit.by else "") + (f": {edit.why}" if edit.why else "")
    paid = (
        "cost not measured"
        if edit.cost is None
        else f"{edit.cost.change:+.3g} ± {edit.cost.standard_error:.2g} per case"
    )
    ax.set_title(f"{told}\n{paid}", fontsize="small")
    ax.legend(frameon=False, fontsize="small")
