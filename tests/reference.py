"""Slow versions, written as the definitions read."""

from itertools import product

import numpy as np


def expected_cost(truth, answer, costs, weights=None):
    """Mean price of answers "no"/"yes"/"ambiguity" to cases True/False."""
    prices = []
    for positive, given in zip(truth, answer, strict=True):
        if given == "reject":
            prices.append(costs.reject_positive if positive else costs.reject_negative)
        elif given == "yes":
            prices.append(0.0 if positive else costs.fp)
        else:
            prices.append(costs.fn if positive else 0.0)
    return np.average(prices, weights=weights)


def band_answers(scores, lower, upper):
    """Answers by two thresholds: yes above the upper, no below the lower."""
    return ["yes" if s > upper else "no" if s < lower else "reject" for s in scores]


def all_cuts(scores):
    distinct = np.unique(scores)
    return [-np.inf, *((distinct[1:] + distinct[:-1]) / 2), np.inf]


def cheapest_band_price(scores, positive, costs, weights=None, min_coverage=None):
    """Least price over all pairs of thresholds; with min_coverage, of errors only among bands that cover enough."""
    best = np.inf
    weights = np.ones(len(scores)) if weights is None else weights
    for lower, upper in product(all_cuts(scores), repeat=2):
        if lower > upper:
            continue
        answers = band_answers(scores, lower, upper)
        rejected = np.array([a == "reject" for a in answers])
        if min_coverage is not None:
            if weights[~rejected].sum() / weights.sum() < min_coverage - 1e-9:
                continue
            errors = [
                0.0 if r else expected_cost([p], [a], costs)
                for p, a, r in zip(positive, answers, rejected, strict=True)
            ]
            best = min(best, np.average(errors, weights=weights))
        else:
            best = min(best, expected_cost(positive, answers, costs, weights))
    return best


def cheapest_symmetric_price(scores, positive, costs, centre, weights=None):
    distances = np.unique(np.abs(scores - centre))
    widths = [-1e-9, *((distances[1:] + distances[:-1]) / 2), np.inf, (distances[0]) / 2]
    prices = []
    for width in widths:
        answers = ["reject" if abs(s - centre) <= width else ("yes" if s > centre else "no") for s in scores]
        prices.append(expected_cost(positive, answers, costs, weights))
    return min(prices)


def risk_coverage(wrong, score, weights=None):
    """Points of the curve, one for each distinct score."""
    weights = np.ones(len(score)) if weights is None else np.asarray(weights, dtype=float)
    points = []
    for threshold in sorted(set(score[weights > 0]), reverse=True):
        accepted = score >= threshold
        total = weights[accepted].sum()
        points.append((total / weights.sum(), (weights * wrong)[accepted].sum() / total, threshold))
    return tuple(np.array(column) for column in zip(*points, strict=True))


def aurc(wrong, score, weights=None):
    """Mean over the cases of the risk when accepting down to that case."""
    weights = np.ones(len(score)) if weights is None else np.asarray(weights, dtype=float)
    risks = []
    for s in score:
        accepted = score >= s
        total = weights[accepted].sum()
        risks.append((weights * wrong)[accepted].sum() / total if total else 0.0)
    return np.average(risks, weights=weights)
