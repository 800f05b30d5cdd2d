"""Where to put thresholds, against known truth: tuned, shrunk, calibrated, and Chow's on bare probabilities.

Each draw makes a table from a known posterior, scores it out of fold (3 folds) with a classifier, places thresholds on
these scores, fits the classifier on the whole table, and takes the true cost of its answers from the posterior of
10,000 further cases. Four problems (linear, hardly any signal, copies of one feature, rare positives), four classifiers
(logistic regression, naive Bayes, histogram boosting, random forest), the price lists 1:1:.1, 1:1:.2, 1:5:.3 and
1:50:.3: 64 cells. "ours" is the cost in units of Chow's rule on the bare probabilities, which is "peer's", 1: the mean
over all cells, the mean over those of the random forest, and the worst cell (a cell is a mean over the draws). At the
goal, 1, a rule is no worse than Chow's; in the worst of 64 cells, where luck decides, the goal is 1.05. The constant
of the library, 1,000, was chosen with other draws.
"""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs
from recuse.calibration import Sigmoid, log_odds
from recuse.thresholds.rules import Sample, chow_band, shrunk_band

from .runner import Row

TEST_CASES = 10_000
SIZES = {150: 20, 300: 24, 1_000: 10, 4_000: 4}  # cases of a table: draws
PRICES = (Costs(1, 1, 0.1), Costs(1, 1, 0.2), Costs(1, 5, 0.3), Costs(1, 50, 0.3))
CONSTANTS = (0, 250, 500, 1_000, 2_000, 4_000)
CLASSIFIERS = (
    make_pipeline(StandardScaler(), LogisticRegression()),
    GaussianNB(),
    HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=7, random_state=0),
    RandomForestClassifier(60, min_samples_leaf=3, random_state=0),
)


FOREST = 3  # position of the forest among them


class Problem(NamedTuple):
    """Log-odds of the features, and whether three of them are copies of one."""

    name: str
    log_odds: object
    copies: bool = False


PROBLEMS = (
    Problem("linear", lambda X: 1.7 * (X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2]) - 0.8),
    Problem("hardly any signal", lambda X: 1.2 * X[:, 0] * X[:, 1] + np.abs(X[:, 2]) - 1.6),
    Problem("copies", lambda X: 1.5 * X[:, 0] + np.sin(2 * X[:, 3]) - 0.5, copies=True),
    Problem("rare positives", lambda X: 1.3 * (X[:, 0] + 0.6 * X[:, 1] * (X[:, 2] > 0)) - 3.5),
)


def run(quick=False):
    for n, draws in SIZES.items():
        draws = 2 if quick else draws
        found = Parallel(n_jobs=2)(
            delayed(_draw_costs)(problem, n, seed) for seed in range(draws) for problem in range(len(PROBLEMS))
        )
        shape = (draws, len(PROBLEMS), len(CLASSIFIERS), len(PRICES))
        # Mean over the draws of each cell first, so that one unlucky draw of a cheap problem does not count more.
        cells = {rule: np.array([cell[rule] for cell in found]).reshape(shape).mean(axis=0) for rule in found[0]}
        for rule, costs in cells.items():
            if rule != "Chow":
                yield from _rows(rule, f"n = {n:,}, {draws} draws", costs / cells["Chow"])


def _rows(rule, size, ratios):
    """The mean over all cells, over those of the forest, and the worst; axes: problem, classifier, prices."""
    problem, classifier, prices = np.unravel_index(ratios.argmax(), ratios.shape)
    where = (
        f"{PROBLEMS[problem].name}, {type(_last_step(CLASSIFIERS[classifier])).__name__}, {_in_short(PRICES[prices])}"
    )
    yield Row(rule, size, "Chow's rule", float(ratios.mean()), 1.0, 1.0)
    yield Row(f"{rule}: random forest", size, "Chow's rule", float(ratios[:, FOREST].mean()), 1.0, 1.0)
    yield Row(f"{rule}: worst cell ({where})", size, "Chow's rule", float(ratios.max()), 1.0, 1.05)


def _last_step(classifier):
    return classifier[-1] if isinstance(classifier, Pipeline) else classifier


def _in_short(prices):
    return f"{prices.fp:g}:{prices.fn:g}:{prices.reject_negative:g}"


def _draw(problem, n, rng):
    X = rng.standard_normal((n, 8))
    if problem.copies:
        X[:, 1:3] = X[:, :1] + 0.2 * X[:, 1:3]
    posterior = expit(problem.log_odds(X))
    return X, rng.random(n) < posterior, posterior


def _draw_costs(number, n, seed):
    """Cost by rule: one number per classifier and price list."""
    warnings.simplefilter("ignore")
    rng, problem = np.random.default_rng([4, seed, number]), PROBLEMS[number]
    X, positive, _ = _draw(problem, n, rng)
    while positive.sum() < 10:
        X, positive, _ = _draw(problem, n, rng)
    new, _, posterior = _draw(problem, TEST_CASES, rng)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, positive))
    costs = {}
    for classifier in CLASSIFIERS:
        held_out = cross_val_predict(classifier, X, positive, cv=folds, method="predict_proba")[:, 1]
        scores = classifier.fit(X, positive).predict_proba(new)[:, 1]
        sample = Sample.of(held_out, positive, np.ones(n))
        sigmoid = Sigmoid.fit(log_odds(held_out), positive, np.ones(n))
        for prices in PRICES:
            for rule, found in _answers(sample, sigmoid, scores, prices):
                costs.setdefault(rule, []).append(_true_cost(found, posterior, prices))
    return costs


def _answers(sample, sigmoid, scores, prices):
    chow = chow_band(prices)
    yield "Chow", chow.evaluate(scores).answers()
    yield "Chow's rule, sigmoid calibration", chow.evaluate(sigmoid(log_odds(scores))).answers()
    for constant in CONSTANTS:
        band = shrunk_band(sample, prices, probabilities=True, shrinkage=constant)
        name = f"tuned, shrunk by {constant:,}" if constant else "tuned, bare"
        yield name, band.evaluate(scores).answers()


def _true_cost(answers, posterior, prices):
    unit = prices.matrix()[:2]
    return float(((1 - posterior) * unit[0, answers] + posterior * unit[1, answers]).mean())
