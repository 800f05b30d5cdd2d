"""When the coupling of CONSUM helps: the same pair of machines with C = 0 and with C > 0, nothing else changed.

Gaussian classes of 5 variables: 300 training cases; width and C chosen on 1,000 further cases, the cost measured on
1,000 others. In the third scenario there are novelties as in Table 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats
from ...datasets import make_gaussian_classes
from ...svm import CoupledOneClassSVC
from ...svm.coupled.regions import evaluate_regions
from ..means import Tally
from ..pages import p_text, table
from ..splits import Labels
from .scenarios import COSTS, NOVELTY, NU, SCENARIOS, cost_of, scores_of, with_novelties

N_FEATURES, N_TRAIN, N_OTHER = 5, 300, 1000
WIDTHS = tuple(4.0**k for k in range(-3, 2))
STRENGTHS = (1.0, 10.0)
_COST_HEADER = ("classes", "rejections", "C = 0", "C > 0", "change", "better in", "median width, C")


@dataclass(frozen=True)
class Situation:
    """Two classes: the distance between them, the share of positives, and how much wider the positive class is."""

    name: str
    separation: float
    positive_share: float = 0.5
    spread: float = 1.0


SITUATIONS = (
    Situation("much overlap", 1.0),
    Situation("some overlap", 2.0),
    Situation("little overlap", 4.0),
    Situation("some overlap, 10 % positive", 2.0, 0.1),
    Situation("some overlap, positive class 3 times as wide", 2.0, 0.5, 3.0),
    Situation("some overlap, 10 % positive, 3 times as wide", 2.0, 0.1, 3.0),
)


@dataclass(frozen=True)
class CouplingCosts:
    """Costs on one draw in one scenario, without and with the coupling, at the best width (and C) of each.

    `grid` are the costs at every width (rows) and C (columns, the first 0).
    """

    situation: str
    scenario: str
    seed: int
    alone: float
    coupled: float
    width_alone: float
    width_coupled: float
    C: float
    grid: list[list[float]]


def cases(situation: Situation, n: int, seed: int) -> tuple[Floats, Labels]:
    """Draw cases of a situation."""
    X, y = make_gaussian_classes(
        n, N_FEATURES, separation=situation.separation, positive_share=situation.positive_share, random_state=seed
    )
    middle = situation.separation / np.sqrt(N_FEATURES) / 2
    return np.where(y[:, None] == 1, middle + situation.spread * (X - middle), X), y


def compare(
    situation: Situation, seed: int, widths: Sequence[float] = WIDTHS, strengths: Sequence[float] = STRENGTHS
) -> list[CouplingCosts]:
    """Compare C = 0 with C > 0 in all scenarios, on one draw."""
    X, y = cases(situation, N_TRAIN, 3 * seed)
    others = [with_novelties(*cases(situation, N_OTHER, 3 * seed + 1 + k), 3 * seed + 1 + k) for k in range(2)]
    # Axes: scenario, validation or test, width, C.
    costs = np.empty((len(SCENARIOS), 2, len(widths), 1 + len(strengths)))
    for row, width in enumerate(widths):
        for column, C in enumerate((0.0, *strengths)):
            model = CoupledOneClassSVC(COSTS, C=C, gamma=width / N_FEATURES, nu_positive=NU, nu_negative=NU).fit(X, y)
            for k, (X_other, y_other) in enumerate(others):
                costs[:, k, row, column] = _costs(model, X_other, y_other)
    return [
        _chosen(situation, scenario, seed, tested, (widths, strengths))
        for scenario, tested in zip(SCENARIOS, costs, strict=True)
    ]


def _chosen(
    situation: Situation, scenario: str, seed: int, costs: Floats, grid: tuple[Sequence[float], Sequence[float]]
) -> CouplingCosts:
    """Test costs where the validation costs are lowest, without and with the coupling."""
    (widths, strengths), (validation, test) = grid, costs
    alone = int(validation[:, 0].argmin())
    row, column = np.unravel_index(validation[:, 1:].argmin(), validation[:, 1:].shape)
    return CouplingCosts(
        situation.name,
        scenario,
        seed,
        alone=float(test[alone, 0]),
        coupled=float(test[row, 1 + column]),
        width_alone=widths[alone],
        width_coupled=widths[int(row)],
        C=strengths[int(column)],
        grid=test.round(4).tolist(),
    )


def _costs(model: Any, X: Floats, y: Labels) -> list[float]:
    """Costs in the three scenarios; novelties count in the third only."""
    F, known = scores_of(model, X), y != NOVELTY
    rho, costs = (model.rho_negative_, model.rho_positive_), []
    for scenario in SCENARIOS:
        answers = evaluate_regions(F, rho, scenario).answers()
        costs.append(cost_of(answers, y) if scenario == "both" else cost_of(answers[known], y[known]))
    return costs


def lines(found: Sequence[CouplingCosts], widths: Sequence[float] = WIDTHS) -> list[str]:
    """A table of the costs, and one of the ratios at each fixed width and C."""
    return [
        *table(_COST_HEADER, _cost_rows(found), text_columns=(0, 1, 6)),
        "",
        _few_draws(len({comparison.seed for comparison in found})),
        "",
        "Cost with C = 10 relative to C = 0 at the same width (gamma times the number of features):",
        "",
        *table(("classes", "rejections", *(f"{width:g}" for width in widths)), _ratio_rows(found), text_columns=(0, 1)),
    ]


def _few_draws(n: int) -> str:
    """What the column "better in" can show."""
    return (
        f'Sign test of the column "better in": {n} of {n} draws, {p_text(Tally(n, 0))}; {n - 1} of {n}, '
        f"{p_text(Tally(n - 1, 1))}."
    )


def _grouped(found: Sequence[CouplingCosts]) -> Iterator[tuple[str, str, list[CouplingCosts]]]:
    """Situation and scenario, with the comparisons of all draws."""
    for situation in dict.fromkeys(comparison.situation for comparison in found):
        for scenario in SCENARIOS:
            yield situation, scenario, [c for c in found if (c.situation, c.scenario) == (situation, scenario)]


def _cost_rows(found: Sequence[CouplingCosts]) -> Iterator[tuple[str, ...]]:
    """Mean costs without and with the coupling, at the best width and C of each."""
    for situation, scenario, draws in _grouped(found):
        alone, coupled = np.array([c.alone for c in draws]), np.array([c.coupled for c in draws])
        change = coupled.mean() / alone.mean() - 1
        widths = np.median([c.width_alone for c in draws]), np.median([c.width_coupled for c in draws])
        yield (
            situation,
            scenario,
            f"{alone.mean():.3f}",
            f"{coupled.mean():.3f}",
            f"{100 * change:+.0f} %",
            f"{np.count_nonzero(coupled < alone)} of {len(draws)}",
            f"{widths[0]:g}; {widths[1]:g}, {np.median([c.C for c in draws]):g}",
        )


def _ratio_rows(found: Sequence[CouplingCosts]) -> Iterator[tuple[str, ...]]:
    """Mean cost at the largest C relative to C = 0, at each width."""
    for situation, scenario, draws in _grouped(found):
        grid = np.mean([c.grid for c in draws], axis=0)
        yield situation, scenario, *(f"{ratio:.2f}" for ratio in grid[:, -1] / grid[:, 0])
