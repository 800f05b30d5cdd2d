"""Figures 2 to 4 of the paper: the four measures against the reject price."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .means import BUT_EMBEDDED, FoldMeans, title
from .methods import METHODS
from .plan import Outcome

_MEASURES = {"risk": "risk", "accuracy": "accuracy on accepted", "rejected": "rejection rate", "support": "SVs"}


def draw(outcomes: Iterable[Outcome], out: Path, stem: str) -> list[tuple[str, str]]:
    """Draw Figures 2 and 3 (clean labels) and 4 (noise) as far as measured; return titles and file names.

    Without matplotlib there are no figures.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    means, drawn = FoldMeans(outcomes), []
    for noise in sorted({noise for _, noise in means.parts()}):
        data = [name for name, rate in means.parts() if rate == noise]
        figure = Figure(figsize=(12, 2.4 * len(data)), layout="constrained")
        axes = figure.subplots(len(data), len(_MEASURES), squeeze=False)
        for row, name in zip(axes, data, strict=True):
            _draw_data_set(row, means, name, noise)
        # Above the plots: inside it would hide curves.
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=len(METHODS))
        file = f"{stem}_noise_{round(100 * noise)}.png"
        figure.savefig(out / file, dpi=70)
        drawn.append((f"Label noise {100 * noise:g} %", file))
    return drawn


def _draw_data_set(axes: Any, means: FoldMeans, name: str, noise: float) -> None:
    """One row of a figure: the measures of one data set."""
    prices = means.prices(name, noise)
    for axis, (measure, shown) in zip(axes, _MEASURES.items(), strict=True):
        for method in BUT_EMBEDDED if measure == "support" else METHODS:
            values = [means.value(name, noise, method, d, measure) for d in prices]
            axis.plot(prices, values, marker=".", label=method)
        axis.set_title(f"{title(name)}: {shown}", fontsize=9)
        axis.set_xlabel("d", fontsize=8)
