"""False alarms "served worse" over 50 segments, and how often a segment that is served worse is found.

Each draw is a table of 50 segments, in one column or in five, whose shares of positives differ between the segments;
a fifth of the cases is reviewed, and errors are rare and expensive. "Ours" is the share of the draws in which the
report's test (`recuse.comparison.served_worse`) raises an alarm: anywhere, where all segments are served alike; of
another segment, where one is served worse; of that one, by how much worse it is. "Peer's" is the promised rate, or the
same share by Welch's t-test of each segment against the other cases, cost by cost, each at that rate.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import ttest_ind

from recuse.comparison.served_worse import RATE, deviations, served_worse

from .runner import Row

SEGMENTS = 50
SIZES = {2_000: 1_000, 20_000: 1_000}  # cases: draws
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
    naive = [
        ttest_ind(cost[part == k], cost[part != k], equal_var=False, alternative="greater").pvalue <= RATE
        for part in codes
        for k in range(each)
    ]
    return alarms[0], alarms[1:].any(), any(naive), naive[0]
