"""Figures 2 to 4 of the CONSUM paper, on an artificial problem with two variables.

Figure 2: the four regions of each method. Figure 3: rates of errors, ambiguities and novelties as the thresholds rho+
and rho- of CONSUM move. Figure 4: A, error against rejection rate: the Pareto front over the two thresholds of each
method and, dotted, the curve of its single acceptance score; B, cost against C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Floats
from ...datasets import make_gaussian_classes
from ...metrics import accuracy_rejection_curve, pareto_front
from ..splits import Labels
from .scenarios import answers_of, cost_of, scores_of, with_novelties

SEPARATION = 2.0
N_TRAIN, N_TEST = 300, 2000
RATES = ("wrong", "ambiguous", "novel")
STRENGTHS = tuple(float(C) for C in 10.0 ** np.arange(-2, 2.1, 0.5))
_STYLES = {"SVM": ("#D55E00", "--"), "2OSVM": ("#009E73", "-."), "CONSUM": ("#0072B2", "-")}
Fits = Callable[[str, float | None, Floats, Labels], Any]


def training_cases(seed: int = 0) -> tuple[Floats, Labels]:
    """Two Gaussian classes that overlap."""
    return make_gaussian_classes(N_TRAIN, 2, separation=SEPARATION, random_state=seed)


def unseen_cases(seed: int = 0) -> tuple[Floats, Labels]:
    """Test cases from the same classes, with novelties."""
    X, y = make_gaussian_classes(N_TEST, 2, separation=SEPARATION, random_state=1000 + seed)
    return with_novelties(X, y, seed)


def draw(fit: Fits, methods: tuple[str, ...], out: Path, stem: str, *, draws: int) -> list[tuple[str, str]]:
    """Draw the figures and return titles and file names; without matplotlib there are none.

    Parameters
    ----------
    fit : callable
        Fits a method, by name, with a given C or its own, on cases and labels.
    methods : tuple of str
        The methods, CONSUM last.
    out, stem : Path, str
        Folder, and how the names of the files begin.
    draws : int
        Training sets over which the costs of Figure 4B are averaged.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    X, y = training_cases()
    models = {method: fit(method, None, X, y) for method in methods}
    drawings = (
        ("Figure 2: regions", 2, (12.0, 4.2), lambda figure: _regions(figure, models, X, y)),
        ("Figure 3: rates against the thresholds of CONSUM", 3, (12.0, 3.8), lambda figure: _rates(figure, models)),
        (
            "Figure 4: A, error against rejection; B, cost against C",
            4,
            (10.0, 4.2),
            lambda figure: _curves(figure, models, fit, draws),
        ),
    )
    found = []
    for title, number, size, fill in drawings:
        figure = Figure(figsize=size, layout="constrained")
        fill(figure)
        file = f"{stem}_figure_{number}.png"
        figure.savefig(out / file, dpi=80)
        found.append((title, file))
    return found


def _regions(figure: Any, models: Mapping[str, Any], X: Floats, y: Labels) -> None:
    """Figure 2."""
    from ...plot import RejectRegionDisplay

    for axis, (method, model) in zip(figure.subplots(1, len(models)), models.items(), strict=True):
        RejectRegionDisplay.from_estimator(model, X, y, ax=axis, margin=0.3)
        axis.set_title(method)


def _rates(figure: Any, models: Mapping[str, Any]) -> None:
    """Figure 3."""
    model = list(models.values())[-1]
    X, y = unseen_cases()
    F = scores_of(model, X)
    cuts = np.linspace(float(F.min()), float(F.max()), 101)
    rates = threshold_rates(F, y, cuts)
    extent = (cuts[0], cuts[-1], cuts[0], cuts[-1])
    for axis, name in zip(figure.subplots(1, len(RATES), sharey=True), RATES, strict=True):
        image = axis.imshow(rates[name], origin="lower", extent=extent, cmap="cividis", vmin=0, aspect="auto")
        figure.colorbar(image, ax=axis, format=lambda share, _: f"{100 * share:.0f} %")
        axis.plot(model.rho_positive_, model.rho_negative_, "w+", markersize=12, markeredgewidth=2)
        axis.set(title=f"{name}: share of all cases", xlabel="rho+")
    figure.axes[0].set_ylabel("rho-")


def threshold_rates(F: Floats, y: Labels, cuts: Floats) -> dict[str, Floats]:
    """Shares of all cases, by rho- (rows) and rho+ (columns); a novelty that is accepted is wrong."""
    inside_negative = F[:, 0] > cuts[:, None, None]
    inside_positive = F[:, 1] > cuts[:, None]
    wrong = np.where(inside_positive, y != 1, y != 0)
    accepted = inside_negative != inside_positive
    return {
        "wrong": (accepted & wrong).mean(axis=2),
        "ambiguous": (inside_negative & inside_positive).mean(axis=2),
        "novel": (~inside_negative & ~inside_positive).mean(axis=2),
    }


def front(wrong: Floats, rejected: Floats) -> tuple[Floats, Floats]:
    """Rejection rates and errors among accepted cases, at the operating points that no other beats."""
    accepts = rejected < 1  # where everything is rejected there is no error rate
    rejection = rejected[accepts]
    error = wrong[accepts] / (1 - rejection)
    best = pareto_front(rejection, 1 - error)
    return rejection[best], error[best]


def _pair_points(model: Any, X: Floats, y: Labels) -> tuple[Floats, Floats]:
    """Shares wrong and rejected of a pair of one-class machines, at every pair of thresholds."""
    F = scores_of(model, X)
    rates = threshold_rates(F, y, np.quantile(F, np.linspace(0, 1, 101)))
    return rates["wrong"].ravel(), (rates["ambiguous"] + rates["novel"]).ravel()


def _chow_points(model: Any, X: Floats, y: Labels) -> tuple[Floats, Floats]:
    """Shares wrong and rejected of an SVM with Chow's rule, at every pair of thresholds of the two rejections."""
    p = model.estimator_.predict_proba(X)[:, 1]
    typicality = model.novelty_.score_samples(X)
    confidence = np.maximum(p, 1 - p)
    wrong = (p > 0.5).astype(int) != y
    points = []
    for least in np.append(-np.inf, np.quantile(typicality, np.linspace(0, 0.99, 100))):
        for lowest in np.linspace(0.5, 1.0, 101):
            accepted = (typicality >= least) & (confidence >= lowest)
            points.append((np.mean(accepted & wrong), 1 - accepted.mean()))
    shares = np.array(points)
    return shares[:, 0], shares[:, 1]


def _curves(figure: Any, models: Mapping[str, Any], fit: Fits, draws: int) -> None:
    """Figure 4."""
    left, right = figure.subplots(1, 2)
    X, y = unseen_cases()
    for method, model in models.items():
        colour, line = _STYLES[method]
        points = _pair_points if hasattr(model, "rho_positive_") else _chow_points
        left.plot(*front(*points(model, X, y)), drawstyle="steps-post", color=colour, linestyle=line, label=method)
        decisions = model.decide(X, reasons=False)
        rejection, accuracy, _ = accuracy_rejection_curve(y, decisions.forced, decisions.r)
        left.plot(rejection, 1 - accuracy, drawstyle="steps-post", color=colour, linestyle=":", linewidth=1)
    left.set(title="A", xlabel="rejected", ylabel="wrong among the accepted", xlim=(0, 1), ylim=(0, None))
    left.legend(frameon=False)
    for method, costs in costs_by_strength(fit, tuple(models), draws).items():
        colour, line = _STYLES[method]
        right.plot(STRENGTHS, costs.mean(axis=0), color=colour, linestyle=line, marker=".", label=method)
    right.set(title=f"B (mean of {draws} training sets)", xlabel="C", ylabel="cost", xscale="log")
    right.legend(frameon=False)


def costs_by_strength(fit: Fits, methods: tuple[str, ...], draws: int) -> dict[str, Floats]:
    """Cost of each method: rows are training sets, columns values of C; 2OSVM has no C, its rows are constant."""
    found: dict[str, Floats] = {}
    for method in methods:
        costs = np.empty((draws, len(STRENGTHS)))
        for seed in range(draws):
            (X, y), (X_test, y_test) = training_cases(seed), unseen_cases(seed)
            for column, C in enumerate(STRENGTHS if method != "2OSVM" else (0.0,)):
                cost = cost_of(answers_of(fit(method, C, X, y), X_test), y_test)
                costs[seed, column : None if method == "2OSVM" else column + 1] = cost
        found[method] = costs
    return found
