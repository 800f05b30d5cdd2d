"""Table 3 and Figures 2 to 4 of the CONSUM paper, and the question when the coupling helps.

Prices of the paper: an error costs 4, a rejection 1, nu = 0.05 for both classes, Gaussian kernel. Its splits, grids and
number of novelties are not given. Here: random splits 80/20, stratified; features standardised on the training part;
width and C by 3-fold cross-validation on the training part, by the cost of the scenario at hand. In the third scenario
a quarter as many novelties as there are test cases are added, uniform over a box a tenth larger than the data on each
side; the inner folds get novelties of their own in the same way. Prices are those of the paper's Table 1: classifying
a novelty costs 4, rejecting it nothing.

"SVM" is scikit-learn's with Platt's sigmoid, Chow's rule, and a one-class SVM on all cases for the novelties; "2OSVM"
two independent one-class SVMs; "CONSUM" the coupled ones. "CONSUM" never has C = 0 to choose from: that is 2OSVM.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from ..arrays import Flags, Floats, Indices
from ..baselines import IndependentOneClassSVC
from ..datasets import load, make_gaussian_classes
from ..svm import CoupledOneClassSVC
from ..thresholds import ThresholdRejectClassifier
from ..workers import delayed_child
from . import consum_figures, consum_study
from .consum_prices import COSTS, NOVELTY, NU, SCENARIOS, Labels, answers_of, cost_of, with_novelties
from .results import read_outcomes, settings, write_results

METHODS = ("SVM", "2OSVM", "CONSUM")
WIDTHS = tuple(4.0**k for k in range(-3, 2))  # gamma, in units of 1 / (number of features)
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
FILE = "reproduce_consum"

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
# The shift a variable that would give the paper's errors without rejection, were they the Bayes errors.
ARTIFICIAL = {"artificial_50": (50, 1.04), "artificial_100": (100, 1.47)}


@dataclass(frozen=True)
class Part:
    """One data set: how it is split and searched."""

    data: str
    splits: int = 5
    folds: int = 3
    widths: tuple[float, ...] = WIDTHS
    strengths: tuple[float, ...] = STRENGTHS
    searched: int = 1500  # at most this many training cases take part in the search


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


@dataclass(frozen=True)
class Setting:
    """A point of the grid, and the cost of each scenario on the inner folds."""

    gamma: float
    C: float
    novelty_gamma: float
    costs: tuple[float, float, float]


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


def data_of(name: str, split: int) -> tuple[Floats, Labels]:
    """Cases and labels 0 and 1; the artificial sets are drawn anew for each split."""
    if name in ARTIFICIAL:
        n_features, separation = ARTIFICIAL[name]
        return make_gaussian_classes(2000, n_features, separation=separation, random_state=split)
    X, y = load(name, return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y)


def run_split(part: Part, split: int) -> list[Outcome]:
    """All methods and scenarios on one random split."""
    X, y = data_of(part.data, split)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=split)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    tests = dict.fromkeys(SCENARIOS, (X_test, y_test))
    tests["both"] = with_novelties(X_test, y_test, split)
    outcomes = []
    for method in METHODS:
        settings = SEARCHES[method](part, X, y, split)
        for position, scenario in enumerate(SCENARIOS):
            best = min(settings, key=lambda setting: setting.costs[position])
            model = BUILDERS[method](best, scenario).fit(X, y)
            answers = answers_of(model, tests[scenario][0])
            outcomes.append(_outcome(part, method, scenario, split, answers, tests[scenario][1], best))
    return outcomes


def _outcome(part: Part, method: str, scenario: str, split: int, answers: Indices, y: Labels, best: Setting) -> Outcome:
    wrong = (answers < 2) & (answers != y)
    setting = f"gamma={best.gamma:.4g}" + (f", C={best.C:g}" if method != "2OSVM" else "")
    shares = (float(np.mean(answers == 2)), float(np.mean(answers == 3)), float(np.mean(wrong)))
    return Outcome(part.data, method, scenario, split, cost_of(answers, y), *shares, setting)


def coupled(setting: Setting, scenario: str) -> Any:
    """CONSUM."""
    return CoupledOneClassSVC(
        COSTS, C=setting.C, gamma=setting.gamma, nu_positive=NU, nu_negative=NU, rejection=scenario
    )


def independent(setting: Setting, scenario: str) -> Any:
    """2OSVM."""
    return IndependentOneClassSVC(COSTS, gamma=setting.gamma, nu_positive=NU, nu_negative=NU, rejection=scenario)


def chow(setting: Setting, scenario: str) -> Any:
    """SVM, Platt's sigmoid, Chow's rule, one-class SVM."""
    svm = SVC(C=setting.C, gamma=setting.gamma)
    if scenario == "none":
        return svm
    novelty = OneClassSVM(nu=NU, gamma=setting.novelty_gamma) if scenario == "both" else None
    calibrated = CalibratedClassifierCV(svm, ensemble=False, cv=3)
    return ThresholdRejectClassifier(calibrated, costs=COSTS, rule="chow", novelty=novelty)


BUILDERS: dict[str, Callable[[Setting, str], Any]] = {"SVM": chow, "2OSVM": independent, "CONSUM": coupled}


def _folds(part: Part, X: Floats, y: Labels, split: int) -> Iterator[tuple[Floats, Labels, Floats, Labels]]:
    """Training and validation parts of the inner folds; each validation part with novelties after it."""
    if len(y) > part.searched:
        X, _, y, _ = train_test_split(X, y, train_size=part.searched, stratify=y, random_state=split)
    for train, test in StratifiedKFold(part.folds, shuffle=True, random_state=split).split(X, y):
        yield X[train], y[train], *with_novelties(X[test], y[test], split)


def _scenario_costs(model: Any, X: Floats, y: Labels) -> list[float]:
    """Cost of a fitted one-class pair in the three scenarios; novelties count in the third only."""
    known, costs = y != NOVELTY, []
    for scenario in SCENARIOS:
        part = slice(None) if scenario == "both" else known
        answers = answers_of(model.set_params(rejection=scenario), X[part])
        costs.append(cost_of(answers, y[part]))
    return costs


def _search_pairs(build: Callable[[Setting, str], Any], strengths: Sequence[float]) -> Callable[..., list[Setting]]:
    """The grid of a pair of one-class machines."""

    def search(part: Part, X: Floats, y: Labels, split: int) -> list[Setting]:
        folds, found = list(_folds(part, X, y, split)), []
        for width in part.widths:
            for C in strengths or part.strengths:
                setting = Setting(width / X.shape[1], C, 0.0, (0.0, 0.0, 0.0))
                costs = [
                    _scenario_costs(build(setting, "both").fit(train, labels), test, truth)
                    for train, labels, test, truth in folds
                ]
                found.append(Setting(setting.gamma, C, 0.0, tuple(np.mean(costs, axis=0).tolist())))
        return found

    return search


def _search_svm(part: Part, X: Floats, y: Labels, split: int) -> list[Setting]:
    """The grid of the SVM: the sigmoid is fitted on the scores of all folds; then the width of the one-class SVM."""
    folds, found = list(_folds(part, X, y, split)), []
    truth = np.concatenate([labels for _, _, _, labels in folds])
    known = truth != NOVELTY
    novel = {width: _outside(folds, width / X.shape[1]) for width in part.widths}
    for width in part.widths:
        for C in part.strengths:
            gamma = width / X.shape[1]
            f = np.concatenate(
                [SVC(C=C, gamma=gamma).fit(train, labels).decision_function(test) for train, labels, test, _ in folds]
            )
            plain = cost_of((f[known] > 0).astype(np.intp), truth[known])
            answers = _chow_answers(f, truth, known)
            ambiguity = cost_of(answers[known], truth[known])
            both = {width: cost_of(np.where(outside, 3, answers), truth) for width, outside in novel.items()}
            best = min(both, key=lambda width: both[width])
            found.append(Setting(gamma, C, best / X.shape[1], (plain, ambiguity, both[best])))
    return found


def _chow_answers(f: Floats, truth: Labels, known: Flags) -> Indices:
    """Chow's rule on Platt's sigmoid of the scores."""
    sigmoid = LogisticRegression(C=1e6).fit(f[known, None], truth[known])
    p = sigmoid.predict_proba(f[:, None])[:, 1]
    low, high = COSTS.thresholds
    return np.where(p > high, 1, np.where(p < low, 0, 2))


def _outside(folds: list[Any], gamma: float) -> Flags:
    """Which validation cases a one-class SVM on all training cases calls novelties."""
    return np.concatenate(
        [OneClassSVM(nu=NU, gamma=gamma).fit(train).decision_function(test) < 0 for train, _, test, _ in folds]
    )


SEARCHES: dict[str, Callable[..., list[Setting]]] = {
    "SVM": _search_svm,
    "2OSVM": _search_pairs(independent, (0.0,)),
    "CONSUM": _search_pairs(coupled, ()),
}


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None) -> list[Outcome]:
    """Run every part that begins in time; print each as it ends, and write what there is.

    Parts that the folder `out` holds already, with the same settings, are not run again. Quick runs have files of
    their own. With `out`, the figures are drawn there too.
    """
    started, skipped = time.perf_counter(), []
    outcomes = [] if quick or out is None else _read(out, parts(quick))
    done = {outcome.part for outcome in outcomes}
    for part in parts(quick):
        if part.data in done:
            continue
        if time.perf_counter() - started > 60 * minutes:
            skipped.append(part.data)
            continue
        found = Parallel(n_jobs=2, prefer="threads")(delayed(run_split)(part, split) for split in range(part.splits))
        outcomes += [outcome for split in found for outcome in split]
        print("\n".join(lines(part, outcomes)), flush=True)
        if out is not None:
            write(out, Page(outcomes, skipped=skipped, quick=quick))
    page = Page(outcomes, skipped=skipped, quick=quick)
    if time.perf_counter() - started <= 60 * minutes:
        page.comparisons = study(quick)
        print("\n".join(consum_study.lines(page.comparisons, study_grid(quick)[0])), flush=True)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            page.figures = consum_figures.draw(figure_fits(quick), METHODS, out, page.stem, draws=2 if quick else 3)
    else:
        skipped += ["the study of the coupling", "the figures"]
    if out is not None:
        write(out, page)
    return outcomes


def study_grid(quick: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Widths and values of C of the study."""
    return (WIDTHS[2:4], STRENGTHS[1:3]) if quick else (consum_study.WIDTHS, consum_study.STRENGTHS)


def study(quick: bool) -> list[consum_study.Comparison]:
    """When the coupling helps."""
    situations = consum_study.SITUATIONS[1:5:3] if quick else consum_study.SITUATIONS
    found = Parallel(n_jobs=2, prefer="threads")(
        delayed_child(consum_study.compare)(situation, seed, *study_grid(quick))
        for situation in situations
        for seed in range(2 if quick else 5)
    )
    return [comparison for draw in found for comparison in draw]


def figure_fits(quick: bool) -> consum_figures.Fits:
    """Fits with width and C found by cross-validation on the first training set of the figures, for both rejections."""
    X, y = consum_figures.training_cases()
    part = Part("figures", widths=WIDTHS[2:4] if quick else WIDTHS, strengths=STRENGTHS[:2] if quick else STRENGTHS)
    best = {
        method: min(search(part, X, y, 0), key=lambda setting: setting.costs[-1]) for method, search in SEARCHES.items()
    }

    def fit(method: str, C: float | None, X: Floats, y: Labels) -> Any:
        setting = best[method] if C is None else replace(best[method], C=C)
        return BUILDERS[method](setting, "both").fit(X, y)

    return fit


def means(outcomes: list[Outcome], data: str) -> Floats:
    """Mean cost, scenarios by methods."""
    return np.array([[_costs(outcomes, data, m, s).mean() for m in METHODS] for s in SCENARIOS])


def _costs(outcomes: list[Outcome], data: str, method: str, scenario: str) -> Floats:
    chosen = [o for o in outcomes if (o.part, o.method, o.scenario) == (data, method, scenario)]
    return np.array([o.cost for o in sorted(chosen, key=lambda o: o.split)])


def lines(part: Part, outcomes: list[Outcome]) -> Iterator[str]:
    """The table of one data set, beside the paper's."""
    yield f"\n{part.data} ({part.splits} splits)"
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


def claims(outcomes: list[Outcome]) -> list[str]:
    """Each claim of the paper's Table 3, with what was measured."""
    names = [name for name in PAPER if any(o.part == name for o in outcomes)]
    table = {name: means(outcomes, name) for name in names}
    svm, pair, consum = 0, 1, 2

    def wins(scenario: int, method: int) -> list[str]:
        return [name for name in names if table[name][scenario].argmin() == method]

    def verdict(held: bool) -> str:
        return "reproduced" if held else "NOT reproduced"

    def cheaper(scenario: int) -> list[str]:
        return [name for name in names if table[name][scenario, consum] < table[name][scenario, pair]]

    most = len(names) / 2
    lower = [
        method
        for column, method in enumerate(METHODS)
        if all(table[name][1, column] <= table[name][0, column] for name in names)
    ]
    return [
        f"Without rejection the SVM is mostly the best (5 of 8): {verdict(len(wins(0, svm)) > most)}, "
        f"{len(wins(0, svm))} of {len(names)} ({', '.join(wins(0, svm))}).",
        f"With ambiguity rejection CONSUM is the best on four of the six real sets: "
        f"{verdict(len([n for n in wins(1, consum) if n not in ARTIFICIAL]) >= 4)}, "
        f"best on {', '.join(wins(1, consum)) or 'none'}; SVM on {', '.join(wins(1, svm)) or 'none'}.",
        f"With both rejections CONSUM is the best (6 of 8): {verdict(len(wins(2, consum)) > most)}, "
        f"best on {', '.join(wins(2, consum)) or 'none'}; SVM on {', '.join(wins(2, svm)) or 'none'}; "
        f"2OSVM on {', '.join(wins(2, pair)) or 'none'}.",
        f"With ambiguity rejection the coupling lowers the cost of 2OSVM (8 of 8): "
        f"{verdict(len(cheaper(1)) == len(names))}, on {', '.join(cheaper(1)) or 'none'}.",
        f"With both rejections the coupling lowers the cost of 2OSVM (7 of 8): "
        f"{verdict(len(cheaper(2)) >= len(names) - 1)}, "
        f"on {', '.join(cheaper(2)) or 'none'}.",
        f"Rejecting ambiguous cases lowers the cost whatever the method: {verdict(len(lower) == len(METHODS))}, "
        f"on every set for {', '.join(lower) or 'no method'}.",
    ]


@dataclass
class Page:
    """What there is to write down."""

    outcomes: list[Outcome]
    skipped: list[str]
    quick: bool
    comparisons: list[consum_study.Comparison] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """How the names of the files begin."""
        return FILE + "_quick" * self.quick

    def markdown(self) -> str:
        """The tables, the claims, the study and the figures."""
        planned, done = parts(self.quick), {outcome.part for outcome in self.outcomes}
        page = ["# reproduce consum", "", (__doc__ or "").strip(), "", "```"]
        for part in planned:
            if part.data in done:
                page += lines(part, self.outcomes)
        page += ["```", "", "Mean and standard deviation over the splits. " + _settings(planned, self.quick), ""]
        page += ["## Claims of Table 3", "", *(f"- {claim}" for claim in claims(self.outcomes)), ""]
        if self.comparisons:
            page += ["## When the coupling helps", "", (consum_study.__doc__ or "").strip(), ""]
            page += [*consum_study.lines(self.comparisons, study_grid(self.quick)[0]), ""]
        if self.figures:
            page += ["## Figures", "", (consum_figures.__doc__ or "").strip(), ""]
            page += [line for title, file in self.figures for line in (f"![{title}]({file})", "")]
        if self.skipped:
            page += [f"Not run, for want of time: {'; '.join(self.skipped)}.", ""]
        option = " --quick" if self.quick else ""
        return "\n".join([*page, f"Again: `python -m recuse.reproduce consum{option} --out benchmarks/results`.", ""])

    def data(self) -> dict[str, Any]:
        """Every outcome, and what it depends on."""
        done = {outcome.part for outcome in self.outcomes}
        return {
            "experiment": "consum",
            "quick": self.quick,
            "skipped": self.skipped,
            "settings": {part.data: settings(part) for part in parts(self.quick) if part.data in done},
            "outcomes": [asdict(o) for o in self.outcomes],
            "study": [asdict(c) for c in self.comparisons],
        }


def write(out: Path, page: Page) -> None:
    """Write every outcome as JSON and the page as Markdown."""
    write_results(out, page.stem, page.data(), [page.markdown()])


def _read(out: Path, planned: list[Part]) -> list[Outcome]:
    earlier = read_outcomes(out / f"{FILE}.json", {part.data: part for part in planned})
    return [Outcome(**outcome) for outcome in earlier]


def _settings(planned: list[Part], quick: bool) -> str:
    part = planned[0]
    return (
        f"{part.splits} splits (seeds from 0), {part.folds} inner folds on at most {part.searched} training cases, "
        f"gamma times the number of features in {', '.join(f'{w:g}' for w in part.widths)}, C in "
        f"{', '.join(f'{c:g}' for c in part.strengths)}{' (quick run)' if quick else ''}."
    )
