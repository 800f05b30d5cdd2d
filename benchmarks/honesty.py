"""What a comparison concludes, against known truth: simulated tables whose posterior is known.

Each repetition draws a table, cross-validates fifteen fast methods on it (five classifiers, each without rejection, by
Chow's rule and by tuned thresholds), and judges them as `recuse.compare` does: the choice, its corrected cost, its
interval and the verdict. Then the chosen method is fitted on the whole table, and what it truly costs follows from the
posterior of 20,000 further cases. `size` names the cases of a table, the prices of a false alarm, a miss and a review,
and the repetitions. Bias is of the shown cost of the method chosen, "ours", against its standard deviation, "peer's".
For shares, "peer's" is the share allowed: 7 % of intervals that miss the truth, 10 % of verdicts "pays" that gain
nothing, 10 % of shipped models that cost more than the manual review of every case.
"""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from recuse import Costs, ThresholdRejectClassifier
from recuse.comparison.methods import CONSTANTS, SEND_ALL
from recuse.comparison.payments import Payments
from recuse.comparison.verdict import Candidates, judge
from recuse.costs import answer_columns
from recuse.decisions import KINDS

from .runner import Row

TEST_CASES = 20_000
BASES = {
    "logistic, C = 0.01": lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.01)),
    "logistic, C = 1": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "naive Bayes": GaussianNB,
    "neighbours": lambda: KNeighborsClassifier(15),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=15, random_state=0),
}
RULES = {
    "never rejecting": {"rule": "chow", "coverage": 1.0, "cv": 2},
    "Chow": {"rule": "chow"},
    "tuned": {"rule": "tuned", "cv": 3},
}


class Setting(NamedTuple):
    """A kind of table and its prices."""

    name: str
    log_odds: object
    n: int
    costs: Costs


def _linear(X):
    return 1.7 * (X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2]) - 0.8


def _hard(X):
    return 1.2 * X[:, 0] * X[:, 1] + np.abs(X[:, 2]) - 1.6


def _rare(X):
    return 1.3 * (X[:, 0] + 0.6 * X[:, 1] * (X[:, 2] > 0)) - 3.5


SETTINGS = (
    Setting("a clear signal", _linear, 300, Costs(1, 5, 0.3)),
    Setting("hardly any signal", _hard, 300, Costs(1, 5, 0.3)),
    Setting("rare, expensive misses", _rare, 300, Costs(1, 50, 0.3)),
    Setting("a clear signal", _linear, 2_000, Costs(1, 5, 0.3)),
)


class Outcome(NamedTuple):
    """One repetition: what was shown and what is true."""

    shown: float
    covered: bool
    truth: float
    send_all: float
    answering_pays: bool
    answering_gain: float
    rejecting_pays: bool
    rejecting_gain: float


def run(quick=False):
    for setting in SETTINGS:
        repetitions = 8 if quick else 200
        outcomes = Parallel(n_jobs=2)(delayed(_repetition)(setting, seed) for seed in range(repetitions))
        prices = f"{setting.costs.fp:g}:{setting.costs.fn:g}:{setting.costs.reject_negative:g}"
        yield from _rows(outcomes, f"n = {setting.n:,}, {prices}, {repetitions}x, {setting.name}")


def _rows(outcomes, size):
    column = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    bias = abs(float((column["shown"] - column["truth"]).mean()))
    yield Row("bias of the shown cost", size, "its standard deviation", bias, float(column["shown"].std()), 0.25)
    yield Row("intervals that miss the truth", size, "allowed", 1 - float(column["covered"].mean()), 0.07, 1.0)
    for question in ("answering", "rejecting"):
        said = column[f"{question}_pays"]
        wrong = float((column[f"{question}_gain"][said] <= 0).mean()) if said.any() else 0.0
        what = f'"{question} pays" (said in {said.mean():.0%}) that gain nothing'
        yield Row(what, size, "allowed", wrong, 0.10, 1.0)
    worse = float((column["truth"] > column["send_all"] + 1e-12).mean())
    yield Row("shipped, costing more than reviewing everything", size, "allowed", worse, 0.10, 1.0)


def _draw(setting, n, rng):
    X = rng.standard_normal((n, 8))
    posterior = 1 / (1 + np.exp(-setting.log_odds(X)))
    return X, rng.random(n) < posterior, posterior


def _repetition(setting, seed):
    warnings.simplefilter("ignore")  # that a rule rejects every case is among the things that are counted
    rng = np.random.default_rng(seed)
    X, positive, _ = _draw(setting, setting.n, rng)
    while positive.sum() < 10:
        X, positive, _ = _draw(setting, setting.n, rng)
    new, _, posterior = _draw(setting, TEST_CASES, rng)
    answers = {name: np.empty((2, setting.n), dtype=np.intp) for name in _names()}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, positive):
        for name, found in _answers(X[train], positive[train], X[test], setting.costs).items():
            answers[name][:, test] = found
    verdict = _judge(answers, positive, setting.costs, seed)
    truth = {
        name: _true_costs(found, posterior, setting.costs)
        for name, found in _answers(X, positive, new, setting.costs).items()
    }
    constants = {
        constant.name: _true_cost(np.full(TEST_CASES, constant.column), posterior, setting.costs)
        for constant in CONSTANTS
    }
    costs = {name: pair[0] for name, pair in truth.items()} | constants
    best, rule = verdict.best_model, verdict.rejecting.rule
    return Outcome(
        verdict.cost.value,
        verdict.cost.low <= costs[verdict.chosen] <= verdict.cost.high,
        costs[verdict.chosen],
        constants[SEND_ALL],
        verdict.answering.pays == "yes",
        constants[SEND_ALL] - costs[best],
        verdict.rejecting.pays == "yes",
        (truth[best][1] if rule == best else costs[best]) - costs[rule],
    )


def _names():
    return [f"{base}, {rule}" for base in BASES for rule in RULES]


def _answers(X, y, new, costs):
    """Columns of the price matrix that every method fitted on (X, y) gives new cases: as it answers, and forced to."""
    found = {}
    for base, make in BASES.items():
        for rule, options in RULES.items():
            decisions = (
                ThresholdRejectClassifier(make(), costs=costs, **options)
                .fit(X, y.astype(int))
                .decide(new, reasons=False)
            )
            forced = decisions.forced.astype(np.intp)
            kinds = np.searchsorted(KINDS, decisions.kind)  # in the order of the alphabet
            found[f"{base}, {rule}"] = np.array([answer_columns(forced, kinds), forced])
    return found


def _judge(answers, positive, costs, seed):
    models, forced = (
        {name: Payments.of(columns[part], positive, costs) for name, columns in answers.items()} for part in (0, 1)
    )
    constants = {
        constant.name: Payments.of(np.full(len(positive), constant.column), positive, costs, constant=True)
        for constant in CONSTANTS
    }
    return judge(Candidates(models, forced, constants, SEND_ALL), seed=seed)


def _true_costs(columns, posterior, costs):
    return [_true_cost(part, posterior, costs) for part in columns]


def _true_cost(columns, posterior, costs):
    unit = costs.matrix()[:2]
    return float(((1 - posterior) * unit[0, columns] + posterior * unit[1, columns]).mean())
