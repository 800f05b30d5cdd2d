"""Updating a model by its reviews: what the update costs, beside fits to all labels and to the reviews as they are.

A world with known truth, three normal columns. The log-odds of the positive class are three times the first column and
a bend, "bend" times its square minus one, that a logistic regression does not know. A model (logistic regression,
Chow's rule, one price for both errors, a rejection at 0.21 of it) is fitted to 5,000 cases. Then the direction of risk
turns by an angle, 20,000 cases come, all rejected ones are reviewed and each accepted one with a probability of 10 %.
`update_model` with ``forget=1`` learns from the reviews.

"Ours" is the true cost per case of a model, on 200,000 new cases with known probabilities, mean over ten worlds; the
peer is the same method fitted to the labels of all 20,000 cases. The goal of the weighted update is 1.01. Naive fits
take the same reviews without weights, or those of the rejected cases only. They go wrong where the method cannot be
right everywhere (a bend): then it matters which cases it is right about, and the more so the further the world has
turned. Without a bend there is nothing that weights could put right. In the rows "two standard errors" these are ours,
of the difference between a naive fit and the weighted update over the worlds, and the difference is the peer's: it is
measured where it is larger. "Thresholds moved" leaves the classifier as it is.

The rows on the interval count how often the true difference between two models lies outside the 95 % interval that
`update_model` gives, over drawn audits of the same batches, the two models being given; 5 % and two standard errors
are allowed.
"""

import numpy as np
import pandas as pd
from scipy.special import expit

import recuse
from recuse.locating import decide
from recuse.updating import update_model
from recuse.updating.judging import compare_paid
from recuse.updating.refitting import WeightedCases, refit

from .runner import Row

PRICE, AUDIT, STRENGTH = 0.21, 0.1, 3.0
COSTS = recuse.Costs(1.0, 1.0, PRICE)
NAMES = ["risk", "income", "age"]
WORLDS = ((1.0, 1.2, 1.01), (1.0, 0.7, 1.01), (0.0, 1.2, 1.01))  # bend, angle, goal
REPEATS, DRAWS = 10, 2_000
WEIGHTED, NAIVE = "weighted update", ("reviews without weights", "rejected cases only")


class Log:
    """A log in memory."""

    path = "simulated"

    def __init__(self, records):
        self._records = [{"at": "2026-01-01T00:00:00+00:00"} | record for record in records]

    def records(self):
        """All of them."""
        return self._records


def run(quick=False):
    repeats, batch = (1, 3_000) if quick else (REPEATS, 20_000)
    for bend, angle, goal in WORLDS[:1] if quick else WORLDS:
        costs = [_costs(bend, angle, batch, seed) for seed in range(repeats)]
        size = f"bend {bend:g}, turned by {angle:g}, {batch:,} cases"
        means = {name: float(np.mean([found[name] for found in costs])) for name in costs[0]}
        for name in means:
            if name != "all labels":
                yield Row(name, size, "all labels", means[name], means["all labels"], goal * (name == WEIGHTED) or None)
        for name in NAIVE if repeats > 1 else ():
            more = [found[name] - found[WEIGHTED] for found in costs]
            goal_met = 1.0 if (bend, angle) == WORLDS[0][:2] else None
            error = 2 * float(np.std(more, ddof=1) / np.sqrt(repeats))
            yield Row(
                f"two standard errors, {name}", size, "dearer than weighted", error, float(np.mean(more)), goal_met
            )
    for audit in (0.1, 0.02):
        yield _interval(audit, 200 if quick else DRAWS)


def _table(rng, n, bend, angle):
    X = rng.standard_normal((n, 3))
    odds = STRENGTH * (np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]) + bend * (X[:, 0] ** 2 - 1)
    return pd.DataFrame(X, columns=NAMES), expit(odds)


def _costs(bend, angle, batch, seed):
    """True cost per case of each model in one world."""
    rng = np.random.default_rng([17, seed])
    X, p = _table(rng, 5_000, bend, 0.0)
    training = X.assign(outcome=np.where(rng.random(len(p)) < p, "yes", "no"))
    old = recuse.fit(training, "outcome", COSTS, method="logistic-chow", novelty="off")
    X, p = _table(rng, batch, bend, angle)
    positive = rng.random(batch) < p
    decisions = decide(old, X, reasons=False)
    audited = decisions.accepted & (rng.random(batch) < AUDIT)
    log = Log(_records(X, positive, decisions, np.flatnonzero(decisions.rejected | audited)))

    def fitted(rows):
        return refit(old, "logistic-chow", 0, WeightedCases(X[rows], positive[rows], np.ones(int(rows.sum()))))

    update = update_model(old, training, log, target="outcome", method="logistic-chow", forget=1, folds=2)
    moved = update_model(old, training, log, target="outcome", thresholds_only=True, folds=2)
    models = {
        "all labels": fitted(np.ones(batch, dtype=bool)),
        WEIGHTED: update.model,
        NAIVE[0]: fitted(decisions.rejected | audited),
        NAIVE[1]: fitted(decisions.rejected),
        "thresholds moved": moved.model,
        "old model": old,
    }
    test, p = _table(rng, 200_000, bend, angle)
    return {name: _true_cost(model, test, p) for name, model in models.items()}


def _true_cost(model, X, p):
    answers = decide(model, X, reasons=False)
    wrong = np.where(answers.forced == "yes", 1 - p, p)
    return float(np.where(answers.accepted, wrong, PRICE).mean())


def _records(X, positive, decisions, rows):
    classes = np.array(["no", "yes"])
    for row in rows:
        accepted = bool(decisions.accepted[row])
        yield {
            "kind": "task",
            "draw": "1",
            "task": str(row),
            "case": int(row) + 1,
            "packet": "simulated",
            "stratum": "audit" if accepted else "rejected",
            "sampling_probability": AUDIT if accepted else 1.0,
            "answer": {"forced": str(decisions.forced[row]), "h": float(decisions.h[row])},
            "shown": {name: repr(float(X[name].iloc[row])) for name in NAMES},
        }
    counts = {"cases": len(X), **decisions.counts()}
    counts["accepted"] = counts.pop("accept")
    facts = {"model": {"file": "simulated", "digest": ""}, "answers": {}, "audit": AUDIT, "counts": counts}
    yield {"kind": "draw", "draw": "1", "tasks": len(rows), "classes": ["no", "yes"], "positive": "yes", **facts}
    for row in rows:
        verdict = str(classes[int(positive[row])])
        yield {"kind": "verdict", "draw": "1", "task": str(row), "verdict": verdict, "reviewer": "", "reviewed_at": ""}


def _interval(audit, draws):
    """How often the true difference between two given models lies outside the interval."""
    rng = np.random.default_rng(23)
    X, p = _table(rng, 400_000, 1.0, 1.2)
    old, new = ((np.abs(z) > 1.3, z > 0) for z in (STRENGTH * X["risk"].to_numpy(), STRENGTH * X["income"].to_numpy()))

    def paid(model, positive, rows=slice(None)):
        sure, yes = model[0][rows], model[1][rows]
        return np.where(sure, (yes != positive).astype(float), PRICE)

    cost_of_old, cost_of_new = (float((p * paid(m, True) + (1 - p) * paid(m, False)).mean()) for m in (old, new))
    true = cost_of_new - cost_of_old
    missed = 0
    for _ in range(draws):
        rows = rng.integers(len(p), size=2_000)
        positive, accepted = rng.random(2_000) < p[rows], old[0][rows]
        kept = ~accepted | (rng.random(2_000) < audit)
        weights = np.where(accepted, accepted.sum() / max(1, (accepted & kept).sum()), 1.0)[kept]
        judged = compare_paid(paid(old, positive, rows)[kept], paid(new, positive, rows)[kept], weights, COSTS)
        missed += not judged.dearer.low <= true <= judged.dearer.high
    allowed = 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)
    size = f"{draws:,} draws of 2,000 cases, audit {audit:.0%}"
    return Row("true difference outside the interval", size, "allowed", missed / draws, allowed, goal=1.0)
