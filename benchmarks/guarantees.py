"""What is promised holds, and what it costs in coverage: guarantees against the truth, MAPIE and SGR.

Scores and outcomes are drawn from 20,000 atoms whose probabilities are known, so that every risk of every threshold is
known exactly; no model is fitted. Of n cases 70 % have out-of-fold scores, which only place the sequence of thresholds,
and 30 % calibrate. The last rows go through whole estimators: models are fitted to cases of known
probabilities, around a logistic regression that cannot be right and around a trained rejector, and are judged by these.

"Promises that do not hold" are the share, "ours", of draws in which a risk truly exceeds what was promised of it, in
any group, at a level halfway between the greatest and the least risk of its thresholds; "peer's" is what is allowed:
1 - confidence and two standard errors of the share. With ties the scores have 12 values; with groups a promise is made
for each of three groups, the smallest with 15 % of the cases; with a shift the promise is for a population of harder
cases, with weights from 1 to 4; one row leaves the bound of the weights to the largest one given. The rows of
procedures that are wrong on purpose show that the count would find a fault: they test at 0.2 and 0.5 instead of 0.05,
and leave the shift out.

The other rows compare with others on the same draws, cases and risks: 27 settings for each risk (three sizes, three
levels, three difficulties), in each of which the same calibration cases are given to our procedure, to MAPIE (its
`BinaryClassificationController`, where the risk is a share; for costs, which it has for all cases only, its
Hoeffding-Bentkus p-values of the accepted cases and its `control_fwer`) with 100 thresholds spread evenly over the
certainty of an answer, and to SGR (Geifman and El-Yaniv, 2017: binary search over the calibration cases, each bound at
confidence 1 - delta / log2 n). MAPIE is run with its default, Bonferroni-Holm, and with its split fixed sequence,
whose order it learns on the same out-of-fold cases as ours (by 121 p-values from 1e-6 to 1 in place of 1,000 from
1e-25, which take a quarter of a second). Figures are shares of cases rejected and shares of draws in
which nothing is promised; "only one promises nothing" counts the draws in which ours refuses and the other does not,
"ours", and the reverse, "peer's", by the number of cases. The table at the end has coverage and refusals by setting.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.linear_model import LogisticRegression

from recuse import Costs, DoubleHingeSVC, GuaranteedRejectClassifier, ThresholdRejectClassifier
from recuse.guarantees import NoGuaranteeWarning, exact
from recuse.guarantees.claims import Claims, PromiseGroups
from recuse.guarantees.promises import as_promises
from recuse.guarantees.risks import ForcedAnswers
from recuse.guarantees.sequence import Seen, promise
from recuse.guarantees.terms import Shift

from .runner import Row

ATOMS = 20_000
CONFIDENCE = 0.95
PRICES = Costs(fp=1, fn=3, reject=0.3)
RISKS = ("error", "cost", "misses", "false_alarms")
HARD = {"easy": 0.35, "medium": 0.7, "hard": 1.5}
SIZES = (300, 1000, 3000)
# Shares of the risk that the model has when it rejects nothing.
LEVELS = (0.25, 0.5, 0.75)
EVERYTHING = -1.0
# The p-values by which MAPIE orders thresholds: 20 to a decade, as its own 1,000 are 40, but from 1e-6 only.
LEARNED = np.logspace(-6, 0, 121)


@dataclass(frozen=True, eq=False)
class World:
    """Atoms of a population: what is known of each, and how often it is drawn.

    Attributes
    ----------
    posterior, sure : ndarray of shape (n,)
        Probability of the positive class, and how sure the model is of its answer.
    forced, group : ndarray of int of shape (n,)
        The answer, and the group.
    weight : ndarray of shape (n,)
        How much more often an atom occurs where the promise is to hold.
    """

    posterior: np.ndarray
    sure: np.ndarray
    forced: np.ndarray
    group: np.ndarray
    weight: np.ndarray

    def draw(self, n, rng):
        """Cases, with outcomes."""
        rows = rng.integers(0, ATOMS, n)
        return rows, (rng.uniform(size=n) < self.posterior[rows]).astype(int)

    def seen(self, rows, truth, groups=None):
        """Cases as a guarantee sees them."""
        answers = ForcedAnswers(truth, self.forced[rows], PRICES)
        return Seen(answers, self.sure[rows], None if groups is None else PromiseGroups(self.group[rows], (0, 1, 2)))

    def risk(self, name, threshold, cases=None):
        """The true risk of the cases accepted, of all or of some atoms."""
        taken = self.sure > threshold if cases is None else (self.sure > threshold) & cases
        weight, p, positive = self.weight[taken], self.posterior[taken], self.forced[taken] == 1
        wrong = np.where(positive, 1 - p, p)
        if name == "misses":
            weight, wrong = weight * p, ~positive
        elif name == "false_alarms":
            weight, wrong = weight * (1 - p), positive
        elif name == "cost":
            wrong = wrong * np.where(positive, PRICES.fp, PRICES.fn)
        return float(np.average(wrong, weights=weight)) if weight.sum() else 0.0


@cache
def world(difficulty="medium", levels=0, shifted=False):
    """A population; with `levels` the score has so many values."""
    rng = np.random.default_rng(7)
    posterior = rng.beta(HARD[difficulty], HARD[difficulty], ATOMS)
    score = posterior if not levels else (np.floor(posterior * levels) + 0.5) / levels
    centre = PRICES.break_even
    forced = (score > centre).astype(int)
    sure = np.where(score > centre, (score - centre) / (1 - centre), (centre - score) / centre)
    group = rng.choice(3, ATOMS, p=[0.5, 0.35, 0.15])
    # In the last group the model is less right than it says.
    posterior = np.where(group == 2, 0.9 * posterior + 0.05, posterior)
    weight = 1 + 12 * posterior * (1 - posterior) if shifted else np.ones(ATOMS)
    return World(posterior, sure, forced, group, weight)


def levels_of(name, population):
    """Levels that are neither free nor out of reach."""
    whole = population.risk(name, EVERYTHING)
    return [share * whole for share in LEVELS]


def ours(population, risk, level, n, rng, groups=False, bound=None):
    """The guarantee from so many cases."""
    parts = []
    for share in (0.7, 0.3):
        rows, truth = population.draw(int(n * share), rng)
        if bound is not None:
            weights = population.weight[rows]
            kept = Shift(weights, bound or float(weights.max())).drawn(rng.integers(2**31))
            rows, truth = rows[kept], truth[kept]
        parts.append(population.seen(rows, truth, groups or None))
    placing, testing = parts
    promises = as_promises(f"{risk}<={level!r}")
    return promise(promises, CONFIDENCE, placing, testing, lambda t: testing.sure > t, EVERYTHING, n)


def broken(population, risk, level, n, rng, alpha):
    """A procedure that is wrong on purpose: it tests at `alpha` and is said to hold at `CONFIDENCE`."""
    placing, testing = (population.seen(*population.draw(int(n * share), rng)) for share in (0.7, 0.3))
    promises = as_promises(f"{risk}<={level!r}")
    return promise(promises, 1 - alpha, placing, testing, lambda t: testing.sure > t, EVERYTHING, n).threshold


def binding_level(name, population, groups):
    """A level that some thresholds keep and others do not: halfway between the least and the greatest true risk.

    True risks of the worst group, where 30 to 100 % of the cases are accepted.
    """
    parts = [population.group == i for i in range(3)] if groups else [None]
    thresholds = [EVERYTHING, *np.quantile(population.sure, np.linspace(0.05, 0.7, 14))]
    risks = [max(population.risk(name, t, part) for part in parts) for t in thresholds]
    return (min(risks) + max(risks)) / 2


def exceeds(population, risk, level, threshold, groups=False):
    """Whether what was promised is not true."""
    if np.isinf(threshold):
        return False
    parts = [population.group == i for i in range(3)] if groups else [None]
    return any(population.risk(risk, threshold, part) > level * (1 + 1e-12) for part in parts)


VARIANTS = {
    "distinct scores": {},
    "ties": {"levels": 12},
    "groups": {"groups": True, "n": 5000},
    "shift, bound known": {"shifted": True, "bound": 4.0, "n": 5000},
    "shift, largest weight": {"shifted": True, "bound": 0, "n": 5000},
}


def violations(draws):
    """How often a promise does not hold."""
    for risk in RISKS:
        for variant, options in VARIANTS.items():
            population = world("medium", options.get("levels", 0), options.get("shifted", False))
            groups, bound, n = options.get("groups", False), options.get("bound"), options.get("n", 1500)
            n *= 4 if risk == "misses" else 1  # they are rare
            level = binding_level(risk, population, groups)
            found = []
            for seed in range(draws):
                shown = ours(population, risk, level, n, np.random.default_rng([seed, 1]), groups, bound)
                found.append((exceeds(population, risk, level, shown.threshold, groups), shown.holds))
            bad, held = np.mean(found, axis=0)
            yield _share(f"promises that do not hold: {risk}, {variant} (made in {held:.0%})", bad, n, draws)
    for what, alpha, shifted in (
        ("tests at 0.2", 0.2, False),
        ("tests at 0.5", 0.5, False),
        ("no weights", 0.05, True),
    ):
        population = world("medium", shifted=shifted)
        level, bad = binding_level("error", population, False), []
        for seed in range(draws):
            threshold = broken(population, "error", level, 1500, np.random.default_rng([seed, 1]), alpha)
            bad.append(exceeds(population, "error", level, threshold))
        yield _share(f"wrong on purpose, to show that it is found: {what}", np.mean(bad), 1500, draws, None)


def _share(what, share, n, draws, goal=1.0):
    allowed = 1 - CONFIDENCE + 2 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / draws)
    return Row(what, f"n = {n}, {draws} draws", "allowed", float(share), allowed, goal)


# Others, on the same cases


def p_values_of_mapie(population, risk, level, seen):
    """Hoeffding-Bentkus p-values of accepted cases at 100 thresholds, as MAPIE computes them."""
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    grid = np.linspace(0, 0.99, 100)
    (claim,) = Claims.of(as_promises(f"{risk}<={level!r}"), seen.answers, None)
    tallies = [claim.losses.among(seen.sure > t) for t in grid]
    top = tallies[0].prices[-1]
    means, sizes = np.array([t.mean / top for t in tallies]), np.array([t.n for t in tallies])
    means = np.where(sizes == 0, 1.0, means)
    binary = len(tallies[0].prices) == 1
    return grid, compute_hoeffding_bentkus_p_value(means, np.maximum(sizes, 1), level / top, binary)[:, 0]


def mapie(population, risk, level, placing, testing, method):
    """MAPIE's threshold; infinite where it finds none."""
    if risk == "cost":
        return mapie_of_costs(population, risk, level, placing, testing, method)
    from mapie.risk_control import BinaryClassificationController
    from mapie.risk_control.risks import BinaryRisk

    def cases(seen):
        (claim,) = Claims.of(as_promises(f"{risk}<={level!r}"), seen.answers, None)
        kept = claim.losses.relevant  # of misses and false alarms: the cases of one class
        return seen.sure[kept, None], (claim.losses.amounts[kept] > 0).astype(int)

    wrong = BinaryRisk(lambda y, taken: y == 1, lambda y, taken: taken == 1, higher_is_better=False)
    answered = BinaryRisk(lambda y, taken: taken == 1, lambda y, taken: np.ones(len(y), bool), higher_is_better=True)
    with warnings.catch_warnings(action="ignore"):
        controller = BinaryClassificationController(
            lambda sure: np.column_stack([1 - sure[:, 0], sure[:, 0]]),
            wrong,
            target_level=level,
            confidence_level=CONFIDENCE,
            best_predict_param_choice=answered,
            fwer_method=method,
        )
        if method == "split_fixed_sequence":
            controller.learn_fixed_sequence_order(*cases(placing), LEARNED, binary=True)
        controller.calibrate(*cases(testing))
    best = controller.best_predict_param
    return math.inf if best is None else float(np.ravel(best)[0]) - 1e-12


def mapie_of_costs(population, risk, level, placing, testing, method):
    """The same by MAPIE's p-values and its control of the family-wise error, for costs."""
    from mapie.risk_control.fwer_control import control_fwer

    grid, p = p_values_of_mapie(population, risk, level, testing)
    order = np.arange(len(grid))
    if method == "split_fixed_sequence":
        order = np.argsort(p_values_of_mapie(population, risk, level, placing)[1], kind="stable")
    valid = control_fwer(p[order], 1 - CONFIDENCE, method)
    return float(grid[order[valid]].min()) if len(valid) else math.inf


def sgr(population, risk, level, placing, testing, method):
    """Selection with guaranteed risk: binary search over the calibration cases."""
    (claim,) = Claims.of(as_promises(f"{risk}<={level!r}"), testing.answers, None)
    ranked = np.sort(testing.sure)
    steps = math.ceil(math.log2(len(ranked)))
    low, high, best = 0, len(ranked) - 1, math.inf
    for _ in range(steps):
        middle = (low + high) // 2
        tally = claim.losses.among(testing.sure >= ranked[middle])
        alpha = (1 - CONFIDENCE) / steps
        if exact.p_value(tally, level, alpha) <= alpha:
            best, high = min(best, float(ranked[middle]) - 1e-12), middle
        else:
            low = min(middle + 1, len(ranked) - 1)
    return best


def guaranteed(population, risk, level, placing, testing, method):
    """Ours, on the same cases."""
    promises = as_promises(f"{risk}<={level!r}")
    return promise(promises, CONFIDENCE, placing, testing, lambda t: testing.sure > t, EVERYTHING, 0).threshold


RIVALS: dict[str, tuple[Callable, str]] = {
    "ours": (guaranteed, ""),
    "MAPIE": (mapie, "bonferroni_holm"),
    "MAPIE, learned order": (mapie, "split_fixed_sequence"),
    "SGR": (sgr, ""),
}


def compared(draws, risks=RISKS):
    """Coverage and refusals of all, by risk and setting: arrays of shape (rivals, draws) each."""
    for risk in risks:
        for n in SIZES:
            for difficulty in HARD:
                population = world(difficulty)
                for share, level in zip(LEVELS, levels_of(risk, population), strict=True):
                    found = np.zeros((len(RIVALS), draws))
                    for seed in range(draws):
                        rng = np.random.default_rng([seed, 2])
                        parts = [population.seen(*population.draw(int(n * part), rng)) for part in (0.7, 0.3)]
                        for i, (rival, method) in enumerate(RIVALS.values()):
                            threshold = rival(population, risk, level, *parts, method)
                            found[i, seed] = (population.sure > threshold).mean()
                    yield risk, f"{risk} | {n} | {difficulty} | {share:g} x {level / share:.3g}", found


_TABLE: list[tuple[str, np.ndarray]] = []


def against_others(draws, risks=RISKS):
    """Rows of the comparison, by risk."""
    by_risk: dict[str, list[np.ndarray]] = {}
    for risk, setting, found in compared(draws, risks):
        by_risk.setdefault(risk, []).append(found)
        _TABLE.append((setting, found))
        if len(by_risk[risk]) < 27:
            continue
        cover = np.array([f.mean(axis=1) for f in by_risk[risk]]).mean(axis=0)
        none = np.array([(f == 0).mean(axis=1) for f in by_risk[risk]]).mean(axis=0)
        for i, name in list(enumerate(RIVALS))[1:]:
            size = f"27 settings, {draws} draws"
            yield Row(f"share of cases rejected: {risk}", size, name, 1 - cover[0], 1 - cover[i], 1.0)
            yield Row(f"nothing promised: {risk}", size, name, none[0], none[i])
        yield from _refusals(risk, by_risk[risk])


def _refusals(risk, found):
    """By size: in which share of the draws only ours promises nothing, and in which only the other."""
    per_size = len(found) // len(SIZES)
    for k, n in enumerate(SIZES):
        silent = np.concatenate([f == 0 for f in found[k * per_size : (k + 1) * per_size]], axis=1)
        size = f"n = {n}, {per_size} settings, {silent.shape[1] // per_size} draws"
        for i, name in list(enumerate(RIVALS))[1:]:
            only_ours, only_theirs = (silent[0] & ~silent[i]).mean(), (silent[i] & ~silent[0]).mean()
            yield Row(f"only one promises nothing: {risk}", size, name, only_ours, only_theirs)


# Through whole estimators


PLAIN = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES)
AROUND = GuaranteedRejectClassifier(DoubleHingeSVC(costs=0.45))
# Model, promise, cases, in each of two groups, in a population of harder cases. No level is kept by every threshold.
FITTED = (
    (PLAIN, "misses<=0.07", 3000, False, False),
    (PLAIN, "false_alarms<=0.4", 3000, False, False),
    (PLAIN, "cost<=0.38", 3000, False, True),
    (PLAIN, "error<=0.24, false_alarms<=0.44", 3000, True, False),
    (AROUND, "error<=0.17", 600, False, False),
    (AROUND, "misses<=0.18", 1500, False, False),
    (AROUND, "error<=0.17", 1500, False, True),
    (AROUND, "error<=0.19, misses<=0.25", 2000, True, False),
)


def cases_of_known_risk(n, rng):
    """Columns, probabilities that no logistic regression has, groups and weights."""
    X = rng.normal(size=(n, 3))
    posterior = 1 / (1 + np.exp(-2 * X[:, 0] - 0.8 * (X[:, 1] ** 2 - 1)))
    return X, posterior, (X[:, 2] > 0.5).astype(int), 1 + 3 / (1 + np.exp(2 * X[:, 0]))


def whole(draws):
    """Promises of fitted models, judged by the probabilities of 20,000 further cases."""
    X_new, *known = cases_of_known_risk(ATOMS, np.random.default_rng(11))
    for model, promised, n, grouped, shifted in FITTED:
        bad = held = 0
        for seed in range(draws):
            rng = np.random.default_rng([seed, 12])
            X, posterior, group, weight = cases_of_known_risk(n, rng)
            asked = {"promise_groups": group if grouped else None, "shift_weights": weight if shifted else None}
            model.set_params(guarantee=promised, random_state=seed, shift_bound=4.0 if shifted else None)
            with warnings.catch_warnings(action="ignore", category=NoGuaranteeWarning):
                model.fit(X, (rng.uniform(size=n) < posterior).astype(int), **asked)
            held += model.guarantee_.holds
            bad += broken_by(model, X_new, *known, grouped, shifted)
        what = f"{promised}{' in two groups' if grouped else ''}{', shift' if shifted else ''}"
        name = "ThresholdRejectClassifier" if model is PLAIN else "around DoubleHingeSVC"
        what = f"promises that do not hold: {what}, {name} (made in {held / draws:.0%})"
        yield _share(what, bad / draws, n, draws)


def broken_by(model, X, posterior, group, weight, grouped, shifted):
    """Whether a fitted model truly exceeds what it promises, in any group."""
    forced = (model.decision_function(X) > 0).astype(int)
    weight = weight if shifted else np.ones(ATOMS)
    answered = World(posterior, model.score_samples(X), forced, group, weight)
    parts = [group == 0, group == 1] if grouped else [None]
    return any(
        answered.risk(each.risk, 0.0, part) > each.level for each in as_promises(model.guarantee) for part in parts
    )


def run(quick):
    """Rows."""
    yield from violations(20 if quick else 2000)
    yield from against_others(1 if quick else 30)
    yield from whole(3 if quick else 400)


def notes(rows):
    """The table by setting."""
    names = " | ".join(f"{name}: coverage | nothing promised" for name in RIVALS)
    lines = [
        "Mean share of cases accepted, and share of draws in which nothing is promised, by setting; the level is a",
        "share of the risk of a model that rejects nothing.",
        "",
        f"| risk | n | difficulty | level | {names} |",
        "| --- | ---: | --- | --- |" + " ---: | ---: |" * len(RIVALS),
    ]
    for setting, found in _TABLE:
        figures = " | ".join(f"{row.mean():.2f} | {(row == 0).mean():.2f}" for row in found)
        lines.append(f"| {setting} | {figures} |")
    return "\n".join(lines)
