"""The sliders of a report of five outcomes, against a new run at these prices and against the truth.

As in `sliders`, with cases from five normal distributions and prices at which the errors on one outcome cost ten times
as much as others: reviews, or all errors on that outcome, are made cheaper or more expensive. "ours" is what the page
shows, chosen on the cases it is counted on; "peer's" is the cost of a new run at these prices with the same folds, or
the true cost of the method fitted at these prices, from the posterior of 10,000 further cases. Means over the draws.
"""

import warnings
from types import SimpleNamespace

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from recuse import Costs, ThresholdRejectClassifier
from recuse.costs import answer_columns
from recuse.decisions import KINDS
from recuse.report.class_points import Factors, at_factors, cheapest_class_point, class_points
from recuse.report.operating_points import CHOW, TUNED

from .runner import Row

TEST_CASES = 10_000
SIZES = {300: 40, 2_000: 10}  # cases of a table: draws
CENTRES = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [-1.5, -1.5, 0]])
SHARES = np.array([0.3, 0.1, 0.2, 0.2, 0.2])
RARE = 1  # the outcome whose errors are expensive
ERRORS = np.where(np.arange(5)[:, None] == RARE, 10.0, 1.0) * (1 - np.eye(5))
RUN = Costs(errors=ERRORS, reject=0.3)
PLACES = {
    "reviews 3x cheaper": Factors(RARE, 1.0, 1 / 3),
    "reviews 2x as expensive": Factors(RARE, 1.0, 2.0),
    "errors on one outcome 3x cheaper": Factors(RARE, 1 / 3, 1.0),
    "errors on one outcome 3x as expensive": Factors(RARE, 3.0, 1.0),
}
METHODS = {
    "logistic regression, Chow's rule": ({"rule": "chow"}, CHOW),
    "logistic regression, tuned": ({"rule": "tuned", "cv": 3}, TUNED),
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
    """Cases, their outcomes, and the posterior of these."""
    y = rng.choice(5, n, p=SHARES)
    X = CENTRES[y] + rng.standard_normal((n, 3))
    weights = SHARES * np.exp(-0.5 * ((X[:, None] - CENTRES) ** 2).sum(axis=2))
    return X, y, weights / weights.sum(axis=1, keepdims=True)


def _draw_costs(n, seed):
    """The page's figure, that of a new run, and the truth, by method and prices."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([5, seed])
    X, y, _ = _draw(n, rng)
    new, _, posterior = _draw(TEST_CASES, rng)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    found = {}
    for name, (options, moves) in METHODS.items():
        points = class_points(_answers(options, RUN, X, y, folds), y, moves, RUN)
        for what, factors in PLACES.items():
            prices = at_factors(RUN, factors)
            costs = Costs(errors=prices[:, :5], reject=prices[:, 5])
            again = _answers(options, costs, X, y, folds).columns[0]
            model = ThresholdRejectClassifier(LogisticRegression(), costs=costs, **options).fit(X, y)
            columns = _columns(model.decide(new, reasons=False))
            found[f"{name}, {what}"] = (
                float((cheapest_class_point(points, prices).matrix * prices).sum() / n),
                float(prices[y, again].mean()),
                float((posterior * prices.T[columns]).sum(axis=1).mean()),
            )
    return found


def _answers(options, costs, X, y, folds):
    """Out-of-fold answers, as a report reads them."""
    shape = (1, len(X))
    columns, forced = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
    r, score = np.empty(shape), np.empty((*shape, 5))
    for train, test in folds:
        model = ThresholdRejectClassifier(LogisticRegression(), costs=costs, **options).fit(X[train], y[train])
        decisions = model.decide(X[test], reasons=False)
        columns[0, test], forced[0, test], r[0, test] = _columns(decisions), decisions.forced, decisions.r
        score[0, test] = model.predict_proba(X[test])
    return SimpleNamespace(columns=columns, score=score, forced=forced, r=r)


def _columns(decisions):
    return answer_columns(decisions.forced.astype(np.intp), np.searchsorted(KINDS, decisions.kind), 5)
