"""Table 3: cost of each method in each scenario on eight data sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ...arrays import Floats, Indices
from ...datasets import load, make_gaussian_classes
from ..pages import Claim, verdict
from ..runner import call_in_threads
from ..splits import Labels
from .methods import METHODS, STRENGTHS, WIDTHS, GridPoint, Part
from .scenarios import SCENARIOS, answers_of, cost_of, with_novelties

# Cost of SVM, 2OSVM and CONSUM in each scenario, as printed in Table 3 (madelon's 0.1430 read as 1.430).
PAPER = {
    "artificial_50": ((1.209, 1.454, 1.411), (0.997, 1.169, 1.093), (0.939, 0.933, 0.884)),
    "artificial_100": ((0.930, 1.092, 0.919), (0.744, 0.826, 0.756), (0.778, 0.843, 0.750)),
    "wdbc": ((0.325, 0.410, 0.312), (0.307, 0.279, 0.194), (0.325, 0.508, 0.194)),
    "spambase": ((0.262, 0.268, 0.309), (0.115, 0.212, 0.061), (0.248, 0.294, 0.152)),
    "madelon": ((1.302, 1.430, 1.332), (1.100, 1.283, 1.017), (0.967, 0.953, 0.919)),
    "pop_failures": ((0.261, 0.284, 0.272), (0.250, 0.250, 0.238), (0.355, 0.403, 0.351)),
    "transfusion": ((0.946, 1.002, 0.926), (0.801, 0.964, 0.902), (0.839, 0.959, 0.851)),
    "banknote": ((0.066, 0.080, 0.092), (0.051, 0.074, 0.061), (0.208, 0.179, 0.182)),
}
# Number of variables, and the separation at which the Bayes error is the paper's error without rejection.
ARTIFICIAL = {"artificial_50": (50, 1.04), "artificial_100": (100, 1.47)}


@dataclass(frozen=True)
class Outcome:
    """What a method did on one split in one scenario."""

    part: str
    method: str
    scenario: str
    split: int
    cost: float
    ambiguous: float
    novel: float
    wrong: float
    setting: str


def parts(quick: bool) -> list[Part]:
    """The rows of Table 3."""
    names = (
        "wdbc",
        "pop_failures",
        "transfusion",
        "banknote",
        "artificial_50",
        "artificial_100",
        "spambase",
        "madelon",
    )
    if quick:
        return [Part(name, 2, 2, WIDTHS[1:4:2], STRENGTHS[:2], 300) for name in names[:2]]
    return [Part(name) for name in names]


def data_of(name: str, seed: int) -> tuple[Floats, Labels]:
    """Cases and labels 0 and 1; the artificial sets are drawn anew for each split."""
    if name in ARTIFICIAL:
        n_features, separation = ARTIFICIAL[name]
        return make_gaussian_classes(2000, n_features, separation=separation, random_state=seed)
    X, y = load(name, return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y)


def run_part(part: Part) -> list[Outcome]:
    """All methods and scenarios on all splits."""
    found = call_in_threads(run_split, ((part, seed) for seed in range(part.splits)))
    return [outcome for split in found for outcome in split]


def run_split(part: Part, seed: int) -> list[Outcome]:
    """All methods and scenarios on one random split."""
    X, y = data_of(part.data, seed)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    tests = dict.fromkeys(SCENARIOS, (X_test, y_test))
    tests["both"] = with_novelties(X_test, y_test, seed)
    outcomes = []
    for name, method in METHODS.items():
        grid = method.search(part, X, y, seed)
        for position, scenario in enumerate(SCENARIOS):
            best = min(grid, key=lambda point: point.costs[position])
            X_scenario, y_scenario = tests[scenario]
            answers = answers_of(method.build(best, scenario).fit(X, y), X_scenario)
            rates = _rates(answers, y_scenario)
            outcomes.append(Outcome(part.label, name, scenario, seed, *rates, _setting(name, best)))
    return outcomes


def _rates(answers: Indices, y: Labels) -> tuple[float, float, float, float]:
    """Cost, and shares of the cases that are ambiguous, novelties and wrong."""
    wrong = (answers < 2) & (answers != y)
    return cost_of(answers, y), float(np.mean(answers == 2)), float(np.mean(answers == 3)), float(np.mean(wrong))


def _setting(method: str, best: GridPoint) -> str:
    """The point of the grid that was chosen; 2OSVM has no C."""
    return f"gamma={best.gamma:.4g}" + (f", C={best.C:g}" if method != "2OSVM" else "")


def means(outcomes: list[Outcome], data: str) -> Floats:
    """Mean costs: a row per scenario, a column per method."""
    return np.array([[_costs(outcomes, data, m, s).mean() for m in METHODS] for s in SCENARIOS])


def _costs(outcomes: list[Outcome], data: str, method: str, scenario: str) -> Floats:
    """Costs of a method in a scenario, one per split."""
    chosen = [o for o in outcomes if (o.part, o.method, o.scenario) == (data, method, scenario)]
    return np.array([o.cost for o in sorted(chosen, key=lambda o: o.split)])


def lines(part: Part, outcomes: list[Outcome]) -> Iterator[str]:
    """The table of one data set, with the paper's costs at the right."""
    yield f"\n{part.label} ({part.splits} splits)"
    for position, scenario in enumerate(SCENARIOS):
        for column, method in enumerate(METHODS):
            mine = [o for o in outcomes if (o.part, o.method, o.scenario) == (part.data, method, scenario)]
            cost = _costs(outcomes, part.data, method, scenario)
            rates = (100 * float(np.mean([getattr(o, name) for o in mine])) for name in ("ambiguous", "novel", "wrong"))
            ambiguous, novel, wrong = rates
            yield (
                f"  {scenario:<9} {method:<7} cost {cost.mean():.3f} ± {cost.std(ddof=1):.3f}  ambiguous "
                f"{ambiguous:4.1f} %  novel {novel:4.1f} %  wrong {wrong:4.1f} %   "
                f"paper {PAPER[part.data][position][column]:.3f}"
            )


def claims(outcomes: list[Outcome]) -> list[Claim]:
    """Each claim of the paper's Table 3, with what was measured."""
    names = [name for name in PAPER if any(o.part == name for o in outcomes)]
    costs = {name: means(outcomes, name) for name in names}
    return [*_claims_of_the_best(costs), *_claims_of_the_coupling(costs), _claim_of_rejecting(costs)]


def _claims_of_the_best(costs: dict[str, Floats]) -> list[Claim]:
    """Which method has the lowest cost."""

    def best(scenario: str, method: str) -> list[str]:
        row, column = SCENARIOS.index(scenario), list(METHODS).index(method)
        return [name for name, values in costs.items() if values[row].argmin() == column]

    never, ambiguity, both = best("none", "SVM"), best("ambiguity", "CONSUM"), best("both", "CONSUM")
    return [
        Claim(
            "Without rejection the SVM is mostly the best (5 of 8)",
            f"{len(never)} of {len(costs)} ({', '.join(never)})",
            verdict(len(never) > len(costs) / 2),
        ),
        Claim(
            "With ambiguity rejection CONSUM is the best on four of the six real sets",
            f"best on {_listed(ambiguity)}; SVM on {_listed(best('ambiguity', 'SVM'))}",
            verdict(len([name for name in ambiguity if name not in ARTIFICIAL]) >= 4),
        ),
        Claim(
            "With both rejections CONSUM is the best (6 of 8)",
            f"best on {_listed(both)}; SVM on {_listed(best('both', 'SVM'))}; "
            f"2OSVM on {_listed(best('both', '2OSVM'))}",
            verdict(len(both) > len(costs) / 2),
        ),
    ]


def _claims_of_the_coupling(costs: dict[str, Floats]) -> list[Claim]:
    """Where CONSUM costs less than 2OSVM."""
    pair, consum = (list(METHODS).index(method) for method in ("2OSVM", "CONSUM"))
    found = []
    for scenario, title, exceptions in (("ambiguity", "ambiguity rejection", 0), ("both", "both rejections", 1)):
        row = SCENARIOS.index(scenario)
        lower = [name for name, values in costs.items() if values[row, consum] < values[row, pair]]
        text = f"With {title} the coupling lowers the cost of 2OSVM ({8 - exceptions} of 8)"
        found.append(Claim(text, f"on {_listed(lower)}", verdict(len(lower) >= len(costs) - exceptions)))
    return found


def _claim_of_rejecting(costs: dict[str, Floats]) -> Claim:
    """Whether rejecting ambiguous cases never costs more."""
    never, ambiguity = SCENARIOS.index("none"), SCENARIOS.index("ambiguity")
    lower = [
        method
        for column, method in enumerate(METHODS)
        if all(values[ambiguity, column] <= values[never, column] for values in costs.values())
    ]
    text = "Rejecting ambiguous cases lowers the cost whatever the method"
    return Claim(text, f"for {', '.join(lower) or 'no method'} on every set", verdict(len(lower) == len(METHODS)))


def _listed(names: list[str]) -> str:
    """Names separated by commas, or "none"."""
    return ", ".join(names) or "none"
