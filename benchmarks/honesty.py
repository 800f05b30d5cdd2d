"""What a comparison concludes, against known truth: simulated tables whose posterior is known.

Each repetition draws a table, cross-validates fifteen fast methods on it (five classifiers, each without rejection, by
Chow's rule and by tuned thresholds), and judges them as `recuse.compare` does: the choice, its corrected cost, its
interval and the verdict; in two settings an ensemble of four of the classifiers comes first, as in the list of methods.
Then what was chosen is fitted on the whole table, and what it truly costs follows from the posterior of 10,000 further
cases. The last setting is `recuse.compare` itself, with five methods and as many repeated
cross-validations as it finds necessary (`repeats="auto"`); it takes long, and with 20 repetitions its bias is known to
a sixth of the standard deviation only. The constants of the choice were set with other draws.

`size` names the cases of a table, the prices of a false alarm, a miss and a review, and the repetitions. Bias is of the
shown cost of what was chosen, a method or a constant answer, "ours", against its standard deviation, "peer's"; "given
that a model was chosen" counts these repetitions only. For shares, "peer's" is the share allowed: 7 % of intervals that
miss the truth, 10 % of verdicts "pays" that gain nothing, 10 % of shipped models that cost more than the manual review
of every case. A model that rejects every case is not counted among those of which "rejecting pays" is said. A model is
chosen in the share "ours" of the repetitions; in the share "peer's" the model in question truly is cheaper than the
best constant answer. The last rows are the mean true cost of what was shipped, against that of the best constant answer
and that of the best of the methods, which nobody knows in use.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import recuse
from recuse import Costs, EnsembleRejectClassifier, ThresholdRejectClassifier
from recuse.comparison.constants import CONSTANTS, SEND_ALL
from recuse.comparison.payments import Payments
from recuse.comparison.verdict import Candidates, judge
from recuse.costs import answer_columns
from recuse.decisions import KINDS

from .runner import Row

TEST_CASES = 10_000
_SAME = 1e-12  # a constant costs what it costs, up to rounding
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


COMPARED = ["logistic-no-reject", "logistic-chow", "logistic-tuned"]  # with two estimators of one's own


class Setting(NamedTuple):
    """A kind of table, its prices, how methods are compared on it, and how often."""

    name: str
    log_odds: Callable
    n: int
    costs: Costs
    compared: Callable
    repetitions: int = 200


def _linear(X):
    return 1.7 * (X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2]) - 0.8


def _hard(X):
    return 1.2 * X[:, 0] * X[:, 1] + np.abs(X[:, 2]) - 1.6


def _rare(X):
    return 1.3 * (X[:, 0] + 0.6 * X[:, 1] * (X[:, 2] > 0)) - 3.5


def _rare_but_strong(X):
    return 4 * X[:, 0] - 7


def _draw(setting, n, rng):
    X = rng.standard_normal((n, 8))
    posterior = 1 / (1 + np.exp(-setting.log_odds(X)))
    return X, rng.random(n) < posterior, posterior


def repetition(setting, seed):
    """One table: what is shown for it, and what is true."""
    warnings.simplefilter("ignore")  # that a rule rejects every case is among the things that are counted
    rng = np.random.default_rng([5, seed])
    X, positive, _ = _draw(setting, setting.n, rng)
    while positive.sum() < 10:
        X, positive, _ = _draw(setting, setting.n, rng)
    new, _, posterior = _draw(setting, TEST_CASES, rng)
    constants = {
        constant.name: _true_cost(np.full(TEST_CASES, constant.column), posterior, setting.costs)
        for constant in CONSTANTS
    }
    verdict, answers, models = setting.compared(setting, X, positive, new, seed)
    truth = {name: [_true_cost(part, posterior, setting.costs) for part in found] for name, found in models.items()}
    return _outcome(verdict, bool((answers[verdict.best_model] < 2).any()), truth, constants)


def _outcome(verdict, answers_any, truth, constants):
    costs = {name: own for name, (own, _) in truth.items()} | constants
    best, rule, shipped = verdict.best_model, verdict.rejecting.rule, costs[verdict.chosen]
    return Outcome(
        shown=verdict.cost.value,
        covered=verdict.cost.low - _SAME <= shipped <= verdict.cost.high + _SAME,
        truth=shipped,
        model_chosen=verdict.model_chosen,
        model=costs[best],
        best_model=min(own for own, _ in truth.values()),
        best_constant=min(constants.values()),
        send_all=constants[SEND_ALL],
        answering_pays=verdict.answering.pays == "yes",
        answering_gain=constants[SEND_ALL] - costs[best],
        rejecting_pays=verdict.rejecting.pays == "yes" and answers_any,
        rejecting_gain=(truth[best][1] if rule == best else costs[best]) - costs[rule],
    )


def fast_methods(setting, X, positive, new, seed):
    """Cross-validate the fifteen methods once: the verdict, and their answers to the table and to new cases."""
    return _cross_validate(_answers, setting, X, positive, new, seed)


def ensemble_first(setting, X, positive, new, seed):
    """The same with a blend of four of the classifiers before them: the list of `compare` begins with the ensemble."""
    return _cross_validate(_answers_and_blend, setting, X, positive, new, seed)


def _cross_validate(answers_of, setting, X, positive, new, seed):
    answers = {}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, positive):
        for name, found in answers_of(X[train], positive[train], X[test], setting.costs).items():
            answers.setdefault(name, np.empty((2, setting.n), dtype=np.intp))[:, test] = found
    verdict = _judge(answers, positive, setting.costs, seed)
    return verdict, {name: own for name, (own, _) in answers.items()}, answers_of(X, positive, new, setting.costs)


def whole_product(setting, X, positive, new, seed):
    """The same by `recuse.compare`, repetitions included."""
    frame, names = pd.DataFrame(X), [f"x{column}" for column in range(X.shape[1])]
    frame.columns = names
    own = [("naive-bayes", GaussianNB()), ("neighbours", KNeighborsClassifier(15))]
    result = recuse.compare(
        frame.assign(y=positive.astype(int)), "y", costs=setting.costs, methods=[*COMPARED, *own], n_jobs=1, seed=seed
    )
    cases = pd.DataFrame(new, columns=names)
    models = {name: _columns(recuse.decide(result.model(name), cases, reasons=False)) for name in result.answers}
    return result.verdict, {name: found.columns for name, found in result.answers.items()}, models


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
            found[f"{base}, {rule}"] = _columns(decisions)
    return found


def _answers_and_blend(X, y, new, costs):
    members = [(name.replace(",", ""), make()) for name, make in BASES.items() if name != "logistic, C = 0.01"]
    blend = EnsembleRejectClassifier(members, costs=costs, rule="chow").fit(X, y.astype(int))
    return {"ensemble": _columns(blend.decide(new, reasons=False))} | _answers(X, y, new, costs)


def _columns(decisions):
    """Columns of the price matrix: of the answers, and of those that a rule is forced to give."""
    forced = decisions.forced.astype(np.intp)
    kinds = np.searchsorted(KINDS, decisions.kind)  # in the order of the alphabet
    return np.array([answer_columns(forced, kinds), forced])


def _judge(answers, positive, costs, seed):
    models, forced = (
        {name: Payments.of(columns[part], positive, costs) for name, columns in answers.items()} for part in (0, 1)
    )
    constants = {
        constant.name: Payments.of(np.full(len(positive), constant.column), positive, costs, constant=True)
        for constant in CONSTANTS
    }
    return judge(Candidates(models, forced, constants, SEND_ALL), seed=seed)


def _true_cost(columns, posterior, costs):
    unit = costs.matrix()[:2]
    return float(((1 - posterior) * unit[0, columns] + posterior * unit[1, columns]).mean())


SETTINGS = (
    Setting("a clear signal", _linear, 300, Costs(1, 5, 0.3), fast_methods),
    Setting("hardly any signal", _hard, 300, Costs(1, 5, 0.3), fast_methods),
    Setting("rare, expensive misses", _rare, 300, Costs(1, 50, 0.3), fast_methods),
    Setting("rare, expensive misses, a strong signal", _rare_but_strong, 300, Costs(1, 50, 0.3), fast_methods),
    Setting("a clear signal", _linear, 2_000, Costs(1, 5, 0.3), fast_methods),
    Setting("a clear signal, the ensemble first", _linear, 300, Costs(1, 5, 0.3), ensemble_first),
    Setting("hardly any signal, the ensemble first", _hard, 300, Costs(1, 5, 0.3), ensemble_first),
    Setting("a clear signal, recuse.compare", _linear, 300, Costs(1, 5, 0.3), whole_product, repetitions=20),
)


class Outcome(NamedTuple):
    """One repetition: what was shown, and what is true of what was shipped and of the model chosen among the models."""

    shown: float
    covered: bool
    truth: float
    model_chosen: bool
    model: float
    best_model: float
    best_constant: float
    send_all: float
    answering_pays: bool
    answering_gain: float
    rejecting_pays: bool
    rejecting_gain: float


def run(quick=False):
    for setting in SETTINGS:
        repetitions = (
            min(setting.repetitions, 2 if setting.compared is whole_product else 8) if quick else setting.repetitions
        )
        outcomes = Parallel(n_jobs=2)(delayed(repetition)(setting, seed) for seed in range(repetitions))
        yield from rows(setting, outcomes)


def rows(setting, outcomes):
    """What the repetitions of a setting show."""
    prices = f"{setting.costs.fp:g}:{setting.costs.fn:g}:{setting.costs.reject_negative:g}"
    size = f"n = {setting.n:,}, {prices}, {len(outcomes)}x, {setting.name}"
    column = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    chosen = column["model_chosen"]
    yield _bias("bias of the shown cost", size, column["shown"], column["truth"], 0.25)
    missed = ~column["covered"]
    yield Row("intervals that miss the truth", size, "allowed", float(missed.mean()), 0.07, 1.0)
    for question in ("answering", "rejecting"):
        said = column[f"{question}_pays"]
        wrong = float((column[f"{question}_gain"][said] <= 0).mean()) if said.any() else 0.0
        what = f'"{question} pays" (said in {said.mean():.0%}) that gain nothing'
        yield Row(what, size, "allowed", wrong, 0.10, 1.0)
    worse = float((column["truth"] > column["send_all"] + 1e-12).mean())
    yield Row("shipped, costing more than reviewing everything", size, "allowed", worse, 0.10, 1.0)
    cheaper = float((column["model"] < column["best_constant"]).mean())
    yield Row("a model was chosen", size, "model truly cheaper than constants", float(chosen.mean()), cheaper)
    if chosen.any():
        given = "given that a model was chosen"
        yield _bias(f"bias of the shown cost, {given}", size, column["shown"][chosen], column["truth"][chosen])
        yield Row(f"intervals that miss, {given}", size, "allowed", float(missed[chosen].mean()), 0.07)
    shipped = float(column["truth"].mean())
    for peer in ("best_constant", "best_model"):
        yield Row("true cost of what was shipped", size, peer.replace("_", " "), shipped, float(column[peer].mean()))


def _bias(what, size, shown, truth, goal=None):
    bias = float((shown - truth).mean())
    side = "too low" if bias < 0 else "too high"
    return Row(f"{what} ({side})", size, "its standard deviation", abs(bias), float(shown.std()), goal)
