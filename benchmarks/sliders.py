"""What the report's sliders show at other prices, against a new run at these prices and against the truth.

Each draw makes a table from a known posterior and cross-validates a method on it at the prices 1:5:.3 (5 folds). The
page's figure at other prices, "ours", is the cost of the cheapest of the method's operating points there. It is chosen
on the cases it is counted on, so it is too low; "peer's" is the cost of a new run at these prices with the same folds,
or the true cost of the method fitted at these prices, from the posterior of 10,000 further cases. Means over the draws.
At the prices of the run itself the page's figure is that of the run.
"""

import warnings
from types import SimpleNamespace

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from recuse import Costs, ThresholdRejectClassifier
from recuse.costs import answer_columns
from recuse.decisions import KINDS
from recuse.report.operating_points import CHOW, TUNED, cheapest_point, operating_points, point_cost

from .runner import Row

TEST_CASES = 10_000
SIZES = {300: 60, 2_000: 15}  # cases of a table: draws
RUN = Costs(1, 5, 0.3)
PRICES = {
    "reviews 3x cheaper": Costs(1, 5, 0.1),
    "reviews 2x as expensive": Costs(1, 5, 0.6),
    "misses 3x cheaper": Costs(1, 5 / 3, 0.3),
    "misses 3x as expensive": Costs(1, 15, 0.3),
}
FOREST = RandomForestClassifier(60, min_samples_leaf=5, random_state=0)
METHODS = {
    "logistic regression, Chow's rule": (LogisticRegression(), {"rule": "chow"}, CHOW),
    "logistic regression, tuned": (LogisticRegression(), {"rule": "tuned", "cv": 3}, TUNED),
    "random forest, Chow's rule": (FOREST, {"rule": "chow"}, CHOW),
}


def run(quick=False):
    for n, draws in SIZES.items():
        draws = 2 if quick else draws
        found = Parallel(n_jobs=2)(delayed(_draw_costs)(n, seed) for seed in range(draws))
        for what in found[0]:
            shown, again, truth = np.mean([cell[what] for cell in found], axis=0)
            size = f"n = {n:,}, {draws} draws"
            yield Row(what, size, "a new run", shown, again)
            yield Row(what, size, "the truth", shown, truth)


def _draw(n, rng):
    X = rng.standard_normal((n, 8))
    posterior = 1 / (1 + np.exp(-1.7 * (X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2]) + 0.8))
    return X, rng.random(n) < posterior, posterior


def _draw_costs(n, seed):
    """The page's figure, that of a new run, and the truth, by method and prices."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([3, seed])
    X, positive, _ = _draw(n, rng)
    new, _, posterior = _draw(TEST_CASES, rng)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, positive))
    found = {}
    for name, (classifier, options, moves) in METHODS.items():
        points = operating_points(_answers(classifier, options, RUN, X, positive, folds), positive, moves, RUN)
        for what, costs in PRICES.items():
            again = _answers(classifier, options, costs, X, positive, folds).columns[0]
            model = ThresholdRejectClassifier(classifier, costs=costs, **options).fit(X, positive.astype(int))
            columns = _columns(model.decide(new, reasons=False))
            found[f"{name}, {what}"] = (
                point_cost(cheapest_point(points, costs), costs),
                float(costs.prices(positive.astype(int), again).mean()),
                _true_cost(columns, posterior, costs),
            )
    return found


def _answers(classifier, options, costs, X, positive, folds):
    """Out-of-fold answers, as a report reads them."""
    columns, score = np.empty((1, len(X)), dtype=np.intp), np.empty((1, len(X)))
    for train, test in folds:
        model = ThresholdRejectClassifier(classifier, costs=costs, **options).fit(X[train], positive[train].astype(int))
        columns[0, test] = _columns(model.decide(X[test], reasons=False))
        score[0, test] = model.predict_proba(X[test])[:, 1]
    return SimpleNamespace(columns=columns, score=score, forced=(score > costs.break_even).astype(np.int8))


def _columns(decisions):
    return answer_columns(decisions.forced.astype(np.intp), np.searchsorted(KINDS, decisions.kind))


def _true_cost(columns, posterior, costs):
    unit = costs.matrix()[:2]
    return float(((1 - posterior) * unit[0, columns] + posterior * unit[1, columns]).mean())
