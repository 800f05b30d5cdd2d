"""False alarms "served worse" over 50 segments, and how often a segment that is served worse is found.

Each draw is a table of 50 segments, in one column or in five, whose shares of positives differ between the segments;
a fifth of the cases is reviewed, and errors are rare and expensive. "Ours" is the share of the draws in which the
report's test (`recuse.comparison.served_worse`) raises an alarm: anywhere, where all segments are served alike; of
another segment, where one is served worse; of that one, by how much worse it is. "Peer's" is the promised rate, or the
same share by Welch's t-test of each segment against the other cases, cost by cost, each at that rate.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

from recuse.comparison.served_worse import RATE, deviations, served_worse

from .runner import Row

SEGMENTS = 50
SIZES = {2_000: 4_000, 20_000: 4_000}  # cases: draws
WORSE = (0.05, 0.1, 0.2, 0.4)  # more errors among the cases answered
POWER_DRAWS = 300


def run(quick=False):
    for n, draws in SIZES.items():
        draws = 10 if quick else draws
        for columns in (1, 5):
            found = _draws(n, draws, columns, 0.0)
            size = f"n = {n:,}, {columns} column(s), {draws:,} draws"
            yield Row("any alarm, all served alike", size, "promised", found[:, :2].any(axis=1).mean(), RATE)
            yield Row(
                "any alarm, all served alike", size, "t-tests", found[:, :2].any(axis=1).mean(), found[:, 2].mean()
            )
        for worse in WORSE:
            found = _draws(n, 10 if quick else POWER_DRAWS, 1, worse)
            size = f"n = {n:,}, {n // SEGMENTS} cases in it, {len(found):,} draws"
            yield Row(
                f"alarm of the segment with {worse:.0%} more errors", size, "t-tests", *found[:, [0, 3]].mean(axis=0)
            )
            yield Row(f"alarm of another, beside {worse:.0%} more errors", size, "promised", found[:, 1].mean(), RATE)


def _draws(n, draws, columns, worse):
    return np.array(Parallel(n_jobs=1)(delayed(_draw)(n, seed, columns, worse) for seed in range(draws)), dtype=float)


def _draw(n, seed, columns, worse):
    """Whether there is an alarm of the first segment, of any other, and by t-tests of any and of the first."""
    rng = np.random.default_rng([7, seed])
    each = SEGMENTS // columns
    codes = [rng.integers(0, each, n) for _ in range(columns)]
    positive = rng.random(n) < 0.05 + 0.3 * (codes[0] % 2)
    answered = (rng.random(n) > 0.2).astype(float)
    wrong = answered * (rng.random(n) < np.where(positive, 0.1, 0.03) + worse * (codes[0] == 0))
    cost = np.where(answered == 1, wrong * np.where(positive, 10.0, 1.0), 0.3)
    deviating = deviations(cost, answered, wrong, positive)
    alarms = np.concatenate(
        [served_worse(deviating, positive, part, n_columns=columns, seed=seed) <= RATE for part in codes]
    ).any(axis=1)
    naive = np.concatenate([_welch(cost, part, each) <= RATE for part in codes])
    return alarms[0], alarms[1:].any(), naive.any(), naive[0]


def _welch(values, codes, n_segments):
    """p-values of Welch's t-test, each segment against the other cases: whether its mean is higher."""
    powers = np.column_stack([np.ones_like(values), values, values**2])
    inside = np.array([np.bincount(codes, power, n_segments) for power in powers.T])
    means, parts, sizes = [], [], []
    for n, total, squares in (inside, powers.sum(axis=0)[:, None] - inside):
        means.append(total / n)
        parts.append((squares - total**2 / n) / (n - 1) / n)
        sizes.append(n)
    degrees = sum(parts) ** 2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    return student.sf((means[0] - means[1]) / np.sqrt(sum(parts)), degrees)
