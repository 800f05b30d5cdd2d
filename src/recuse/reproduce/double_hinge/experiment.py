"""Table 1 of the double hinge paper, and what its last section only announces: asymmetric prices, larger data.

Protocol of the paper: 10 random splits 80/20; features standardised on the training part; Gaussian kernel; kernel width
and C (and the naive method's threshold) chosen by cross-validation on the training part; prices 1, 1 and r = 0.45.
"Naive" is the ordinary SVM with one threshold on |f|; "B&W" is Bartlett and Wegkamp's threshold on the scores of the
double hinge; "double hinge" is rule (9). The paper does not give its grids or its number of folds: here 5 folds, seven
widths and nine values of C.

The second part has other prices, two of them different for the two classes (there the naive rule may choose two
thresholds), and two larger data sets. Logistic regression with Chow's rule is added for comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ...arrays import Floats
from ...costs import Costs
from ...datasets import load
from ...svm import DoubleHingeSVC, double_hinge_path
from ...svm.losses import bartlett_wegkamp_threshold, score_thresholds
from ...thresholds.rules import Sample, symmetric_band, tuned_band
from ..pages import claims_table, heading, not_run, numbers, run_again
from ..results import Results, resume, write_results
from ..runner import TimeBudget, call_in_threads, run_parts
from ..splits import Labels, Split
from .claims import RULE, claims
from .plan import PAPER, SYMMETRIC, Outcome, Part, parts

Band = tuple[float, float]

NAME = "double-hinge"


class Fitted(NamedTuple):
    """Scores of the test cases, the band of scores that is rejected, and the setting that was chosen."""

    scores: Floats
    band: Band
    setting: str


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None) -> list[Outcome]:
    """Run the experiments as long as there is time; print and write the results after each of them.

    Parts that the folder `out` already holds with the same settings are not run again, so a run that was stopped
    continues where it was. Quick runs have files of their own.
    """
    results = resume(NAME, parts(quick), Outcome, quick, out)

    def report(part: Part) -> None:
        print("\n".join(lines(part, results.outcomes)), flush=True)
        write(out, results)

    run_parts(results, TimeBudget(minutes), run_part, report)
    write(out, results)
    return results.outcomes


def run_part(part: Part) -> list[Outcome]:
    """All methods on all splits."""
    X, y = load(part.data, return_X_y=True)
    found = call_in_threads(run_split, ((part, X, y, seed) for seed in range(part.splits)))
    return [outcome for split in found for outcome in split]


def run_split(part: Part, X: Floats, y: Labels, seed: int) -> list[Outcome]:
    """All methods on one random split."""
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=part.train, test_size=part.test, stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(X)
    split = Split(scaler.transform(X), y, scaler.transform(X_test), seed)
    outcomes = []
    for method in part.methods:
        start = time.perf_counter()
        fitted = METHODS[method](part, split)
        seconds = time.perf_counter() - start
        rates = judge(fitted.scores, y_test, *fitted.band, part.costs)
        outcomes.append(Outcome(part.label, method, seed, *rates, seconds, fitted.setting))
    return outcomes


def judge(f: Floats, y: Labels, low: float, high: float, costs: Costs) -> tuple[float, float, float]:
    """Mean cost, rejection rate and error rate (errors over all cases, as in the paper)."""
    yes, no, positive = f > high, f < low, y == 1
    rejected = ~yes & ~no
    prices = np.where(positive, costs.fn * no, costs.fp * yes)
    prices = prices + rejected * np.where(positive, costs.reject_positive, costs.reject_negative)
    return float(prices.mean()), float(rejected.mean()), float(((yes & ~positive) | (no & positive)).mean())


def double_hinge(part: Part, split: Split) -> Fitted:
    """Rule (9) on the scores of the double hinge."""
    return _with_double_hinge(part, split, score_thresholds(part.costs))


def bartlett_wegkamp(part: Part, split: Split) -> Fitted:
    """Bartlett and Wegkamp's threshold on the scores of the double hinge."""
    threshold = bartlett_wegkamp_threshold(part.costs)
    return _with_double_hinge(part, split, (-threshold, threshold))


def _with_double_hinge(part: Part, split: Split, band: Band) -> Fitted:
    """The double hinge with its width and C chosen by cross-validation, and a given band."""

    def scores(X: Floats, y: Labels, X_test: Floats, gamma: float) -> Floats:
        path = double_hinge_path(X, y, part.strengths, part.costs, gamma=gamma)
        return path.scores(X_test)[0]

    def price(f: Floats, y: Labels) -> tuple[float, Band]:
        return judge(f, y, *band, part.costs)[0], band

    gamma, C, _ = _search(part, split, scores, price)
    model = DoubleHingeSVC(part.costs, C=C, gamma=gamma).fit(split.X, split.y)
    f = model.decision_function(split.X_test) + model.break_even_
    return Fitted(f, band, f"gamma={gamma:.4g}, C={C:.4g}")


def naive(part: Part, split: Split) -> Fitted:
    """The ordinary SVM; its threshold (two, where the prices differ by class) is chosen by cross-validation too."""

    def scores(X: Floats, y: Labels, X_test: Floats, gamma: float) -> Floats:
        fits = (SVC(C=C, gamma=gamma).fit(X, y) for C in part.strengths)
        return np.array([fit.decision_function(X_test) for fit in fits])

    def price(f: Floats, y: Labels) -> tuple[float, Band]:
        sample = Sample.of(f, y == 1, np.ones(len(f)))
        if part.costs.symmetric:
            found, cost = symmetric_band(sample, part.costs, 0.0)
        else:
            found, cost = tuned_band(sample, part.costs)
        return cost, (found.lower, found.upper)

    gamma, C, band = _search(part, split, scores, price)
    f = SVC(C=C, gamma=gamma).fit(split.X, split.y).decision_function(split.X_test)
    return Fitted(f, band, f"gamma={gamma:.4g}, C={C:.4g}, thresholds {band[0]:.3g}, {band[1]:.3g}")


def logistic(part: Part, split: Split) -> Fitted:
    """Logistic regression on the standardised features, and Chow's thresholds."""
    model = LogisticRegression(max_iter=1000).fit(split.X, split.y)
    return Fitted(model.predict_proba(split.X_test)[:, 1], part.costs.thresholds, "C=1")


METHODS: dict[str, Callable[[Part, Split], Fitted]] = {
    "naive": naive,
    "B&W": bartlett_wegkamp,
    "double hinge": double_hinge,
    "logistic, Chow": logistic,
}


def _search(
    part: Part, split: Split, scores: Callable[..., Floats], price: Callable[..., tuple[float, Band]]
) -> tuple[float, float, Band]:
    """Width, C and thresholds of lowest cross-validated price; ties go to the smoother model."""
    X, y, _, seed = split
    if len(y) > part.searched:
        X, _, y, _ = train_test_split(X, y, train_size=part.searched, stratify=y, random_state=seed)
    folds = list(StratifiedKFold(part.folds, shuffle=True, random_state=seed).split(X, y))
    best: tuple[float, float, float, Band] | None = None
    for width in part.widths:
        gamma = width / X.shape[1]
        f = np.empty((len(part.strengths), len(y)))
        for train, test in folds:
            f[:, test] = scores(X[train], y[train], X[test], gamma)
        for C, row in zip(part.strengths, f, strict=True):
            cost, band = price(row, y)
            if best is None or cost < best[0] - 1e-12:
                best = (cost, gamma, C, band)
    assert best is not None
    return best[1:]


def lines(part: Part, outcomes: list[Outcome]) -> Iterator[str]:
    """A table of one part, beside the paper's where it has one."""
    yield f"\n{part.label} ({part.splits} splits)"
    for method in part.methods:
        mine = [o for o in outcomes if o.method == method and o.part == part.label]
        loss = 100 * np.array([o.loss for o in mine])
        rejected, wrong = (100 * float(np.mean([getattr(o, name) for o in mine])) for name in ("rejected", "wrong"))
        text = f"  {method:<15} loss {loss.mean():5.1f} ± {loss.std(ddof=1):4.1f}"
        text += f"  rejected {rejected:5.1f} %  wrong {wrong:5.1f} %"
        yield text + _beside_paper(part, method, float(loss.mean()))


def _beside_paper(part: Part, method: str, loss: float) -> str:
    """The paper's figures, where it has them, and whether ours are far from them."""
    if part.costs != SYMMETRIC or (part.data, method) not in PAPER:
        return ""
    mean, spread, rejected, wrong = PAPER[part.data, method]
    apart = "" if abs(loss - mean) <= spread else "  DIFFERS by more than the paper's standard deviation"
    return f"   paper {mean:.1f} ± {spread:.1f}, {rejected:.1f} %, {wrong:.1f} %{apart}"


def write(out: Path | None, results: Results[Part, Outcome]) -> None:
    """Write every outcome as JSON and the tables as Markdown."""
    if out is not None:
        write_results(out, results.stem, results.data(), page(results))


def page(results: Results[Part, Outcome]) -> list[str]:
    """The tables of the parts that were run."""
    text = [*heading(NAME, __doc__), "## The paper's claims", "", RULE, ""]
    text += [*claims_table(claims(results.outcomes)), "", "## Tables", "", "```"]
    for part in results.finished():
        text += lines(part, results.outcomes)
    text += ["```", "", "Loss in per cent: mean and standard deviation over the splits. " + _settings_text(results), ""]
    return text + not_run(results.skipped, results.missing) + run_again(NAME, results.quick)


def _settings_text(results: Results[Part, Outcome]) -> str:
    """How each data set was split and searched."""
    first: dict[str, Part] = {}
    for part in results.planned:
        first.setdefault(part.data, part)
    text = [
        f"{part.data}: {part.splits} splits (seeds from 0; training {part.train:g}, test {part.test:g}), "
        f"{part.folds} folds, gamma times the number of features in {numbers(part.widths)}, "
        f"C in {numbers(part.strengths, '.3g')}"
        + (f", searched on at most {part.searched} training cases" if part.data == "credit_default" else "")
        for part in first.values()
    ]
    return f"Stratified splits and folds, tol 1e-3{' (quick run)' * results.quick}. " + "; ".join(text) + "."
