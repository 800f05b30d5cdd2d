"""Watching a model by its reviews: false alarms while nothing changes, and how soon a change is found.

Worlds with known truth (`recuse.watching.World`): the model knows the log-odds exactly, rejects a third of the cases,
and 7 % of its answers are wrong. Promised is an error of at most 8 % among accepted cases.

False alarms: 400 streams of 100 batches of 250 cases in which nothing changes, with a fifth of the accepted cases
audited; "ours" is the share of streams with any alarm at any batch, "peer's" the promised 5 % and two standard errors
of a share of 400 streams. The rows "at the limit" have a promise of exactly the true error. The row of tests that are
repeated after every batch, a binomial test of all audits so far at 5 %, shows what looking every day does to a test
that is not made for it.

Changes begin after twelve batches, 200 streams each. "Ours" is the share of streams with an alarm of the kind that the
row names within ten batches; the goal of 95 % is written as at most 5 % not found. The direction of risk turns: neither
the share of rejected cases nor what the model expects of itself moves. "Full" takes the error among accepted cases from
7 % to 19 %, "half" to 12.5 %. Batches of 250 reviewed cases come in two kinds: every one of 250 cases reviewed, so that
170 are audits, and 250 of 1,000 cases, 200 audits and 50 rejected ones. The rows with a smaller audit say what less
costs. The rows on one kind say which alarm it is: of a broken promise, whose level is known beforehand, or of the
concept, which is compared with earlier cases only. The rows on other kinds say what else was made to change, from 1 %
novelties; how soon a rise to 3 % is found is said without a goal. Rows "label-free" compare the rise of the error that
the model itself expects with the rise that the audit finds.
"""

import numpy as np
from scipy.stats import binomtest

from recuse.watching import World, watch
from recuse.watching.batches import batches_of
from recuse.watching.series import point_of

from .runner import Row

PROMISE = 0.08
ERROR = 0.0692  # among accepted cases before any change
STREAMS, BATCHES, CHANGED, BEFORE, WITHIN = 400, 100, 200, 12, 10
NULL = World(cases=250, audit=0.2)
EVERY = {"cases": 250, "audit": 1.0}
SOME = {"cases": 1000, "audit": 0.3, "capacity": 50}
FULL, HALF = 0.70, 0.45  # angles
AT = {"at": "2026-01-01T00:00:00+00:00"}


class Stream:
    """A log in memory."""

    path = "simulated"

    def __init__(self, *parts):
        self._records = [AT | record for part in parts for record in part]

    def records(self):
        """All of them."""
        return self._records


def run(quick=False):
    yield from _false_alarms(*((4, 10) if quick else (STREAMS, BATCHES)))
    streams = 4 if quick else CHANGED
    for name, design in (("all of 250 cases", EVERY), ("250 of 1,000 cases", SOME)):
        for size, angle in (("full", FULL), ("half", HALF)):
            yield from _turned(f"{name}, {size}", design, angle, streams, goal=1.0)
    for audit in (0.05, 0.1, 0.2):
        yield from _turned(f"1,000 cases, audit {audit:.0%}, half", SOME | {"audit": audit}, HALF, streams)
    for kind, change, goal in (
        ("difficulty", {"spread": 0.7}, 1.0),
        ("novelty", {"novelty": 0.05}, 1.0),
        ("novelty", {"novelty": 0.03}, None),
        ("columns", {"shifted": 0.5}, 1.0),
    ):
        missed = _not_found(EVERY, change, streams)
        yield Row(f"{kind} not found: {_said(change)}", "all of 250 cases", "allowed", missed[kind], 0.05, goal=goal)
    yield from _label_free(quick)


def _false_alarms(streams, batches):
    allowed = 0.05 + 2 * np.sqrt(0.05 * 0.95 / streams)
    size = f"{streams} streams of {batches} batches"
    any_alarm, at_limit, repeated = np.array([_quiet(seed, batches) for seed in range(streams)], dtype=float).mean(
        axis=0
    )
    yield Row("any false alarm", size, "promised", any_alarm, allowed, goal=1.0)
    yield Row("promise broken, at the limit", size, "promised", at_limit, allowed, goal=1.0)
    yield Row("a binomial test repeated every batch", size, "promised", repeated, allowed)


def _quiet(seed, batches):
    """Whether a stream without change has an alarm; one of a promise at the limit; and one of repeated tests."""
    stream = Stream(NULL.records(batches, random_state=[11, seed]))
    any_alarm = bool(watch(stream, promises=f"error<={PROMISE}").alarms)
    limit = watch(stream, promises=f"error<={ERROR}", reference=10**6)  # of promises alone
    at_limit = any(found.kind == "promise" and found.strongest >= 1 / 0.05 for found in limit.found)
    wrong = audited = 0
    for batch in batches_of(stream.records()):
        audits = batch.reviewed.among(batch.reviewed.audit)
        wrong += int(np.count_nonzero(audits.positive != audits.forced_positive))
        audited += len(audits)
        if audited and binomtest(wrong, audited, ERROR, alternative="greater").pvalue <= 0.05:
            return any_alarm, at_limit, True
    return any_alarm, at_limit, False


def _turned(name, design, angle, streams, goal=None):
    missed = _not_found(design, {"turned": angle}, streams)
    yield Row("promise or concept not found", name, "allowed", missed["either"], 0.05, goal=goal)
    yield Row("promise not found", name, "allowed", missed["promise"], 0.05)
    yield Row("concept not found", name, "allowed", missed["concept"], 0.05)


def _not_found(design, change, streams):
    """Share of streams without an alarm of each kind within ten batches after a change."""
    kinds = ("promise", "concept", "difficulty", "novelty", "columns")
    counts = dict.fromkeys((*kinds, "either"), 0)
    for seed in range(streams):
        before = World(**design).records(BEFORE, random_state=[12, seed, 0])
        after = World(**design, **change).records(WITHIN, random_state=[12, seed, 1], first=BEFORE)
        alarms = {found.kind for found in watch(Stream(before, after), promises=f"error<={PROMISE}").alarms}
        for kind in alarms:
            counts[kind] += 1
        counts["either"] += bool(alarms & {"promise", "concept"})
    return {kind: (streams - count) / streams for kind, count in counts.items()}


def _label_free(quick):
    """Mean error of the audits and mean expected error, before and after a change, over many cases."""
    cases = 2_000 if quick else 100_000
    for size, angle in (("full", FULL), ("half", HALF)):
        points = [
            point_of(batches_of([AT | record for record in world.records(1, random_state=3)])[0], reference=False)
            for world in (World(cases=cases, audit=1.0), World(cases=cases, audit=1.0, turned=angle))
        ]
        found, expected = (
            [read(point) for point in points] for read in (lambda p: p.error.value, lambda p: p.expected_error)
        )
        yield Row(
            "label-free: rise of the error it expects",
            f"{cases:,} cases, {size}",
            "rise found by the audit",
            expected[1] - expected[0],
            found[1] - found[0],
        )


def _said(change):
    ((name, value),) = change.items()
    return f"{name} {value:g}"
