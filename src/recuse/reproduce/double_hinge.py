"""Table 1 of the double hinge paper, and what its last section only announces: asymmetric prices, larger data.

Protocol of the paper: 10 random splits 80/20; features standardised on the training part; Gaussian kernel; kernel width
and C (and the naive method's threshold) chosen by cross-validation on the training part; prices 1, 1 and r = 0.45.
"Naive" is the ordinary SVM with one threshold on |f|; "B&W" is Bartlett and Wegkamp's threshold on the scores of the
double hinge; "double hinge" is rule (9). The paper does not give its grids or its number of folds: here 5 folds, seven
widths and nine values of C.

The second part has other prices, two of them different for the two classes (there the naive rule gets two free
thresholds), and two larger data sets, with logistic regression and Chow's rule beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..arrays import Floats
from ..costs import Costs
from ..datasets import load
from ..svm import DoubleHingeSVC, double_hinge_path
from ..svm.losses import bartlett_wegkamp_threshold, score_thresholds
from ..thresholds.rules import Sample, symmetric_band, tuned_band
from .results import read_outcomes, settings, write_results

Band = tuple[float, float]

# Loss (mean and standard deviation), rejection and error rate, in per cent, as printed in Table 1.
PAPER = {
    ("wdbc", "naive"): (2.9, 1.6, 0.7, 2.6),
    ("wdbc", "B&W"): (3.5, 1.8, 3.9, 1.8),
    ("wdbc", "double hinge"): (2.9, 1.7, 1.2, 2.4),
    ("liver_disorders", "naive"): (28.9, 5.4, 3.3, 27.4),
    ("liver_disorders", "B&W"): (30.9, 4.0, 34.5, 15.4),
    ("liver_disorders", "double hinge"): (28.8, 5.1, 7.9, 25.2),
    ("new_thyroid", "naive"): (4.1, 2.9, 0.9, 3.7),
    ("new_thyroid", "B&W"): (4.4, 2.7, 6.1, 1.6),
    ("new_thyroid", "double hinge"): (3.7, 2.7, 2.1, 2.8),
    ("pima", "naive"): (23.7, 1.9, 7.5, 20.3),
    ("pima", "B&W"): (24.7, 2.1, 24.3, 13.8),
    ("pima", "double hinge"): (23.1, 1.3, 6.9, 20.0),
}

SYMMETRIC = Costs(fp=1, fn=1, reject=0.45)
OTHER_PRICES = (Costs(fp=1, fn=5, reject=0.3), Costs(fp=1, fn=1, reject=0.1), Costs(fp=5, fn=1, reject=0.3))
WIDTHS = tuple(2.0**k for k in range(-4, 3))  # gamma, in units of 1 / (number of features)
STRENGTHS = tuple(10.0 ** (k / 2) for k in range(-3, 6))
FILE = "reproduce_double_hinge"


@dataclass(frozen=True)
class Part:
    """One data set at one price list: how it is split and searched."""

    data: str
    costs: Costs
    methods: tuple[str, ...]
    splits: int = 10
    train: float | int = 0.8
    test: float | int = 0.2
    folds: int = 5
    widths: tuple[float, ...] = WIDTHS
    strengths: tuple[float, ...] = STRENGTHS
    searched: int = 5000  # at most this many training cases take part in the search


@dataclass(frozen=True)
class Outcome:
    """What a method did on one split."""

    part: str
    method: str
    split: int
    loss: float
    rejected: float
    wrong: float
    seconds: float
    setting: str


def parts(quick: bool) -> list[Part]:
    """The experiments, the paper's own first."""
    table = ("naive", "B&W", "double hinge")
    wide = ("naive", "double hinge", "logistic, Chow")
    names = ("wdbc", "new_thyroid", "liver_disorders", "pima")
    if quick:
        small = partial(Part, splits=2, folds=3, widths=WIDTHS[2:5:2], strengths=STRENGTHS[1:7:3])
        return [*(small(name, SYMMETRIC, table) for name in names), small("pima", OTHER_PRICES[0], wide)]
    coarse = partial(Part, folds=3, widths=WIDTHS[:6:2], strengths=STRENGTHS[2::2])
    large = partial(coarse, strengths=STRENGTHS[2:7:2], train=8000, test=10_000, searched=2000)
    return [
        *(Part(name, SYMMETRIC, table) for name in names),
        *(Part(name, costs, wide) for costs in OTHER_PRICES for name in names),
        *(coarse("spambase", costs, wide, splits=5) for costs in OTHER_PRICES),
        *(large("credit_default", costs, wide, splits=3) for costs in OTHER_PRICES),
    ]


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None) -> list[Outcome]:
    """Run every part that begins in time; print each as it ends, and write what there is.

    Parts that the folder `out` holds already, with the same settings, are not run again: a run that was stopped goes on
    where it was. Quick runs have files of their own.
    """
    started, skipped = time.perf_counter(), []
    outcomes = [] if quick or out is None else _read(out, parts(quick))
    done = {outcome.part for outcome in outcomes}
    for part in parts(quick):
        if label(part) in done:
            continue
        if time.perf_counter() - started > 60 * minutes:
            skipped.append(label(part))
            continue
        found = run_part(part)
        outcomes += found
        print("\n".join(lines(part, found)), flush=True)
        if out is not None:
            write(out, outcomes, parts(quick), skipped, quick)
    if out is not None:
        write(out, outcomes, parts(quick), skipped, quick)
    return outcomes


def run_part(part: Part) -> list[Outcome]:
    """All methods on all splits, two splits at a time."""
    X, y = load(part.data, return_X_y=True)
    done = Parallel(n_jobs=2, prefer="threads")(delayed(run_split)(part, X, y, split) for split in range(part.splits))
    return [outcome for split in done for outcome in split]


def run_split(part: Part, X: Floats, y: NDArray[Any], split: int) -> list[Outcome]:
    """All methods on one random split."""
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=part.train, test_size=part.test, stratify=y, random_state=split
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    outcomes = []
    for method in part.methods:
        start = time.perf_counter()
        f, (low, high), setting = METHODS[method](part, X, y, X_test, split)
        seconds = time.perf_counter() - start
        loss, rejected, wrong = judge(f, y_test, low, high, part.costs)
        outcomes.append(Outcome(label(part), method, split, loss, rejected, wrong, seconds, setting))
    return outcomes


def judge(f: Floats, y: NDArray[Any], low: float, high: float, costs: Costs) -> tuple[float, float, float]:
    """Mean cost, rejection rate and error rate (errors over all cases, as in the paper)."""
    yes, no, positive = f > high, f < low, y == 1
    rejected = ~yes & ~no
    prices = np.where(positive, costs.fn * no, costs.fp * yes)
    prices = prices + rejected * np.where(positive, costs.reject_positive, costs.reject_negative)
    return float(prices.mean()), float(rejected.mean()), float(((yes & ~positive) | (no & positive)).mean())


def double_hinge(part: Part, X: Floats, y: NDArray[Any], X_test: Floats, split: int) -> tuple[Floats, Band, str]:
    """Rule (9) on the scores of the double hinge."""
    return _with_double_hinge(part, X, y, X_test, split, score_thresholds(part.costs))


def bartlett_wegkamp(part: Part, X: Floats, y: NDArray[Any], X_test: Floats, split: int) -> tuple[Floats, Band, str]:
    """Bartlett and Wegkamp's threshold on the scores of the double hinge."""
    threshold = bartlett_wegkamp_threshold(part.costs)
    return _with_double_hinge(part, X, y, X_test, split, (-threshold, threshold))


def _with_double_hinge(
    part: Part, X: Floats, y: NDArray[Any], X_test: Floats, split: int, band: Band
) -> tuple[Floats, Band, str]:
    def scores(X: Floats, y: NDArray[Any], X_test: Floats, gamma: float) -> Floats:
        path = double_hinge_path(X, y, part.strengths, part.costs, gamma=gamma)
        return path.scores(X_test)[0]

    def price(f: Floats, y: NDArray[Any]) -> tuple[float, Band]:
        return judge(f, y, *band, part.costs)[0], band

    gamma, C, _ = _search(part, X, y, split, scores, price)
    model = DoubleHingeSVC(part.costs, C=C, gamma=gamma).fit(X, y)
    return model.decision_function(X_test) + model.break_even_, band, f"gamma={gamma:.4g}, C={C:.4g}"


def naive(part: Part, X: Floats, y: NDArray[Any], X_test: Floats, split: int) -> tuple[Floats, Band, str]:
    """The ordinary SVM; its threshold (two, where the prices differ by class) by cross-validation too."""

    def scores(X: Floats, y: NDArray[Any], X_test: Floats, gamma: float) -> Floats:
        fits = (SVC(C=C, gamma=gamma).fit(X, y) for C in part.strengths)
        return np.array([fit.decision_function(X_test) for fit in fits])

    def price(f: Floats, y: NDArray[Any]) -> tuple[float, Band]:
        sample = Sample.of(f, y == 1, np.ones(len(f)))
        if part.costs.symmetric:
            found, cost = symmetric_band(sample, part.costs, 0.0)
        else:
            found, cost = tuned_band(sample, part.costs)
        return cost, (found.lower, found.upper)

    gamma, C, band = _search(part, X, y, split, scores, price)
    f = SVC(C=C, gamma=gamma).fit(X, y).decision_function(X_test)
    return f, band, f"gamma={gamma:.4g}, C={C:.4g}, thresholds {band[0]:.3g}, {band[1]:.3g}"


def logistic(part: Part, X: Floats, y: NDArray[Any], X_test: Floats, split: int) -> tuple[Floats, Band, str]:
    """Logistic regression on the features as they are, and Chow's thresholds."""
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return model.predict_proba(X_test)[:, 1], part.costs.thresholds, "C=1"


METHODS: dict[str, Callable[..., tuple[Floats, Band, str]]] = {
    "naive": naive,
    "B&W": bartlett_wegkamp,
    "double hinge": double_hinge,
    "logistic, Chow": logistic,
}


def _search(
    part: Part,
    X: Floats,
    y: NDArray[Any],
    split: int,
    scores: Callable[..., Floats],
    price: Callable[..., tuple[float, Band]],
) -> tuple[float, float, Band]:
    """Width, C and thresholds of least cross-validated price; ties go to the smoother model."""
    if len(y) > part.searched:
        X, _, y, _ = train_test_split(X, y, train_size=part.searched, stratify=y, random_state=split)
    folds = list(StratifiedKFold(part.folds, shuffle=True, random_state=split).split(X, y))
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


def label(part: Part) -> str:
    """Data and prices of a part, as shown."""
    costs = part.costs
    return f"{part.data}, fp {costs.fp:g}, fn {costs.fn:g}, reject {costs.reject_negative:g}"


def lines(part: Part, outcomes: list[Outcome]) -> Iterator[str]:
    """A table of one part, beside the paper's where it has one."""
    yield f"\n{label(part)} ({part.splits} splits)"
    for method in part.methods:
        mine = [o for o in outcomes if o.method == method and o.part == label(part)]
        loss = 100 * np.array([o.loss for o in mine])
        rejected, wrong = (100 * float(np.mean([getattr(o, name) for o in mine])) for name in ("rejected", "wrong"))
        text = f"  {method:<15} loss {loss.mean():5.1f} ± {loss.std(ddof=1):4.1f}"
        text += f"  rejected {rejected:5.1f} %  wrong {wrong:5.1f} %"
        yield text + _beside_paper(part, method, float(loss.mean()))


def _beside_paper(part: Part, method: str, loss: float) -> str:
    if part.costs != SYMMETRIC or (part.data, method) not in PAPER:
        return ""
    mean, spread, rejected, wrong = PAPER[part.data, method]
    apart = "" if abs(loss - mean) <= spread else "  DIFFERS by more than the paper's standard deviation"
    return f"   paper {mean:.1f} ± {spread:.1f}, {rejected:.1f} %, {wrong:.1f} %{apart}"


def write(out: Path, outcomes: list[Outcome], planned: list[Part], skipped: list[str], quick: bool) -> None:
    """Write every outcome as JSON and the tables as Markdown, whole or not at all."""
    done = {outcome.part for outcome in outcomes}
    page = ["# reproduce double-hinge", "", (__doc__ or "").strip(), "", "```"]
    for part in planned:
        if label(part) in done:
            page += lines(part, outcomes)
    page += ["```", "", "Loss in per cent: mean and standard deviation over the splits. " + _settings(planned, quick)]
    if skipped:
        page += ["", f"Not run, for want of time: {'; '.join(skipped)}."]
    option = " --quick" if quick else ""
    page += ["", f"Again: `python -m recuse.reproduce double-hinge{option} --out benchmarks/results`.", ""]
    data = {
        "experiment": "double-hinge",
        "quick": quick,
        "skipped": skipped,
        "settings": {label(part): settings(part) for part in planned if label(part) in done},
        "outcomes": [asdict(o) for o in outcomes],
    }
    write_results(out, FILE + "_quick" * quick, data, page)


def _read(out: Path, planned: list[Part]) -> list[Outcome]:
    earlier = read_outcomes(out / f"{FILE}.json", {label(part): part for part in planned})
    return [Outcome(**outcome) for outcome in earlier]


def _settings(planned: list[Part], quick: bool) -> str:
    """How each data set was split and searched."""
    seen: dict[str, Part] = {}
    for part in planned:
        seen.setdefault(part.data, part)
    text = [
        f"{part.data}: {part.splits} splits (seeds from 0; training {part.train:g}, test {part.test:g}), "
        f"{part.folds} folds, gamma times the number of features in {', '.join(f'{w:g}' for w in part.widths)}, "
        f"C in {', '.join(f'{c:.3g}' for c in part.strengths)}"
        + (f", searched on at most {part.searched} training cases" if part.data == "credit_default" else "")
        for part in seen.values()
    ]
    return f"Stratified splits and folds, tol 1e-3{' (quick run)' if quick else ''}. " + "; ".join(text) + "."
