"""Three or more classes: how far the rules stay from the Bayes rule, as the number of cases grows.

Regret: mean expected cost above that of the Bayes rule, on two distributions whose probabilities are known, at prices
that differ by cell, over 20,000 new cases; the peer is the fit to a quarter of the cases. Means of two draws, one of
32,000 cases. In "one feature" every rule is a sum over features, so all regrets go to 0; in "additive" the
log-probabilities are such sums, but not what a rejector of its own, or scores learned with a rejection, look for.
"""

import numpy as np
from scipy.special import softmax

from recuse import AbstentionBoostingClassifier, Costs

from .runner import Row

PRICES = Costs(errors=[[0, 1, 2], [1, 0, 2], [6, 4, 0]], reject=[0.4, 0.4, 0.6])


def run(quick=False):
    """Rows of every family on both distributions."""
    sizes = (500, 2_000) if quick else (500, 2_000, 8_000, 32_000)
    for draw in (one_feature, additive):
        new, _, p = draw(20_000, 10**6)
        expected = p @ PRICES.matrix()[:-1, :-1]
        for family, stack in (("chow", None), ("decoupled", None), ("decoupled", "start"), ("coupled", None)):
            found = []
            for n in sizes:
                seeds = range(1 if quick or n > 10_000 else 2)
                cases = [draw(n, seed)[:2] for seed in seeds]
                found.append(np.mean([one_regret(family, stack, *case, new, expected) for case in cases]))
            name = family if stack is None else f"{family}+{stack}"
            for before, after, n in zip(found, found[1:], sizes[1:], strict=False):
                what = f"regret, {draw.__name__.replace('_', ' ')}, {name}"
                yield Row(what, f"n = {n:,}", f"the same, n = {n // 4:,}", after, before, 1.0)


def one_regret(family, stack, X, y, new, expected):
    model = AbstentionBoostingClassifier(costs=PRICES, family=family, stack=stack, bags=1).fit(X, y)
    evaluation = model._evaluate(new)
    given = np.where(evaluation.accepted, evaluation.forced(), 3)
    return float((expected[np.arange(len(new)), given] - expected.min(axis=1)).mean())


def additive(n, seed):
    """Three classes whose log-probabilities are sums of functions of single features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    scores = 2 * np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], 2 * X[:, 1] ** 2 - X[:, 2], np.sign(X[:, 2])])
    return drawn(X, scores, rng)


def one_feature(n, seed):
    """Three classes whose probabilities are functions of one feature: sums over features hold every rule."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 1))
    x = X[:, 0]
    return drawn(X, 3 * np.column_stack([np.sin(4 * x), np.cos(6 * x), np.where(x > 0.3, 0.8, x)]), rng)


def drawn(X, scores, rng):
    p = softmax(scores, axis=1)
    return X, (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1), p
