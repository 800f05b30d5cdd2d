"""How far the ensemble is from the best possible rule, against known truth, beside each of its members.

Three problems with a known posterior over eight features: linear log-odds; a product and bends; a step, a wave and rare
positives. The regret of a rule is its expected cost under the posterior of 10,000 further cases, less that of the
Bayes rule, mean over the price lists 1:1:.1, 1:1:.2, 1:1:.3 and 1:5:.3. Members are bagged and calibrated as in the
ensemble and answer by Chow's rule. "ours" is the mean regret of the ensemble, "peer's" that of the member named, the
best by its mean over all three problems at this size (which only hindsight tells); at the goal the ensemble is below
every member's mean. The rows of single problems have the best member of that problem, with hindsight again, and no
goal. `size` names the cases of a table and the draws per problem.
"""

import warnings

import numpy as np
from scipy.special import expit

from recuse import Costs
from recuse.thresholds.rules import chow_band

from .open_ensemble import OpenEnsemble
from .runner import Row

TEST_CASES = 10_000
SIZES = {200: 8, 1_000: 5, 5_000: 3}  # cases of a table: draws per problem
PRICES = (Costs(1, 1, 0.1), Costs(1, 1, 0.2), Costs(1, 1, 0.3), Costs(1, 5, 0.3))
ENSEMBLE = "ensemble"

# Log-odds of the features.
PROBLEMS = {
    "linear": lambda X: 1.5 * (X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2] + 0.3 * X[:, 3]) - 0.5,
    "product and bends": lambda X: 1.5 * X[:, 0] * X[:, 1] + 1.5 * np.abs(X[:, 2]) - X[:, 3] - 1.2,
    "step and wave, rare": lambda X: 2 * (X[:, 0] > 0.5) + 1.5 * np.sin(2 * X[:, 1]) + X[:, 2] - 2.5,
}


def run(quick=False):
    for n, draws in ({200: 1} if quick else SIZES).items():
        regrets = {problem: _mean_regrets(number, n, draws) for number, problem in enumerate(PROBLEMS)}
        size = f"n = {n:,}, {draws} draws"
        yield _against_best_member("regret, mean of the problems", size, _mean(regrets.values()), goal=1.0)
        for problem, found in regrets.items():
            yield _against_best_member(f"regret, {problem}", size, found)


def _against_best_member(what, size, regrets, goal=None):
    best = min(regrets.keys() - {ENSEMBLE}, key=regrets.get)
    return Row(what, size, best, regrets[ENSEMBLE], regrets[best], goal)


def _mean(tables):
    tables = list(tables)
    return {name: float(np.mean([table[name] for table in tables])) for name in tables[0]}


def _mean_regrets(number, n, draws):
    """By method, the mean over draws."""
    return _mean([_regrets(number, n, seed) for seed in range(draws)])


def _regrets(number, n, seed):
    rng, log_odds = np.random.default_rng([seed, number, n]), list(PROBLEMS.values())[number]
    X, new = rng.standard_normal((n, 8)), rng.standard_normal((TEST_CASES, 8))
    y, posterior = (rng.random(n) < expit(log_odds(X))).astype(int), expit(log_odds(new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OpenEnsemble(random_state=seed).fit(X, y)
    members = model.member_log_odds(new)
    chow = [chow_band(costs) for costs in PRICES]
    best = _expected_cost(posterior, posterior, chow)
    found = {name: expit(members[:, k]) for k, name in enumerate(model.names_)}
    regrets = {name: _expected_cost(p, posterior, chow) - best for name, p in found.items()}
    return regrets | {ENSEMBLE: _expected_cost(model.blended(members), posterior, model.bands(PRICES)) - best}


def _expected_cost(p, posterior, bands):
    """Mean over the price lists of what answers cost under the posterior."""
    costs = []
    for prices, band in zip(PRICES, bands, strict=True):
        unit, answers = prices.matrix()[:2], band.evaluate(p).answers()
        costs.append(((1 - posterior) * unit[0, answers] + posterior * unit[1, answers]).mean())
    return float(np.mean(costs))
