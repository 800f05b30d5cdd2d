"""A log of reviews from a made-up world with known truth: to see what a watch finds, and how soon, with which audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..parameters import check_count, check_share
from ..reviews.records import AUDIT, DRAW, REJECTED, TASK, VERDICT

CLASSES = ["no", "yes"]
_STRENGTH = 3.0  # log-odds of the positive class: so many times a standard normal column
_EDGE = 0.21  # the model rejects between this probability and its complement: a third of the cases


@dataclass(frozen=True)
class World:
    """What happens in a batch: who comes, what the model makes of them, what reviewers see.

    The model knows the log-odds of the positive class, three times the column "risk", when it is fitted. At equal
    prices it rejects a third of the cases, and 7 % of its answers are wrong.

    Parameters
    ----------
    cases : int, default=1000
        In a batch.
    audit : float, default=0.1
        Probability with which an accepted case is reviewed.
    capacity : int, optional
        Rejected cases that are reviewed, drawn at random; all by default.
    novelty : float, default=0.01
        Share of novelties.
    turned : float, default=0
        Angle by which the direction of risk has turned away from what the model knows: the concept has changed.
    spread : float, default=1
        Standard deviation of "risk": below 1 cases are more difficult.
    shifted : float, default=0
        Mean of the column "age", in standard deviations, away from its old one.

    Examples
    --------
    >>> from recuse.watching import World
    >>> records = list(World(cases=100).records(2, random_state=0))
    >>> sorted({record["kind"] for record in records})
    ['draw', 'task', 'verdict']
    """

    cases: int = 1000
    audit: float = 0.1
    capacity: int | None = None
    novelty: float = 0.01
    turned: float = 0.0
    spread: float = 1.0
    shifted: float = 0.0

    def __post_init__(self) -> None:
        check_count("cases", self.cases)
        check_share("audit", self.audit, or_one=True)

    def records(self, batches: int, *, random_state: Any = None, first: int = 0) -> Iterator[dict[str, Any]]:
        """Records for `ReviewLog.append`: tasks, draws and verdicts of several batches, numbered from `first`."""
        rng = np.random.default_rng(random_state)
        for number in range(first, first + batches):
            yield from self._batch(f"batch {number}", rng)

    def _batch(self, draw: str, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
        columns = rng.standard_normal((self.cases, 3)) * [self.spread, 1.0, 1.0]
        log_odds = _STRENGTH * columns[:, 0]
        truth = _STRENGTH * (np.cos(self.turned) * columns[:, 0] + np.sin(self.turned) * columns[:, 1])
        positive, novel = rng.random(self.cases) < expit(truth), rng.random(self.cases) < self.novelty
        accepted = (np.abs(log_odds) > -logit(_EDGE)) & ~novel
        rows, sampling = self._drawn(accepted, rng)
        shown = np.add(columns, (0.0, 0.0, self.shifted))
        for row, probability in zip(rows, sampling, strict=True):
            yield self._task(draw, row, probability, log_odds[row], bool(accepted[row]), bool(novel[row]), shown[row])
        expected = float(expit(-np.abs(log_odds[accepted])).mean()) if accepted.any() else None
        yield _closing(draw, len(rows), accepted, novel, self.audit) | {"expected_error": expected}
        for row in rows:
            verdict = {"verdict": CLASSES[int(positive[row])], "reviewer": "simulated", "reviewed_at": ""}
            yield {"kind": VERDICT, "draw": draw, "task": f"{draw}, case {row}", **verdict}

    def _drawn(self, accepted: Flags, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Cases that are reviewed, and with which probability each was drawn."""
        rejected = np.flatnonzero(~accepted)
        n_reviewed = len(rejected) if self.capacity is None else min(self.capacity, len(rejected))
        queue = rng.choice(rejected, n_reviewed, replace=False)
        audited = np.flatnonzero(accepted & (rng.random(self.cases) < self.audit))
        chances = np.full(n_reviewed, n_reviewed / max(1, len(rejected)))
        return np.append(queue, audited), np.append(chances, np.full(len(audited), self.audit))

    @staticmethod
    def _task(
        draw: str, row: int, probability: float, h: float, accepted: bool, novel: bool, columns: Floats
    ) -> dict[str, Any]:
        answer = {
            "decision": CLASSES[int(h > 0)] if accepted else "[abstain]",
            "kind": "accept" if accepted else "novelty" if novel else "ambiguity",
            "forced": CLASSES[int(h > 0)],
            "probability": float(expit(h)),
            "h": float(h),
            "r": float(abs(h) + logit(_EDGE)),
        }
        names = ("risk", "income", "age")
        return {
            "kind": TASK,
            "draw": draw,
            "task": f"{draw}, case {row}",
            "case": int(row),
            "packet": draw,
            "stratum": AUDIT if accepted else REJECTED,
            "sampling_probability": float(probability),
            "answer": answer,
            "shown": {name: f"{value:.6g}" for name, value in zip(names, columns, strict=True)},
        }


def _closing(draw: str, tasks: int, accepted: Flags, novel: Flags, audit: float) -> dict[str, Any]:
    counts = {"cases": len(accepted), "accepted": int(accepted.sum()), "novelty": int(novel.sum())}
    counts["ambiguity"] = counts["cases"] - counts["accepted"] - counts["novelty"]
    prices = {name: value for name, value in Costs(1.0, 1.0, _EDGE).as_dict().items() if value is not None}
    facts = {"model": {"file": "simulated", "digest": "simulated"}, "classes": CLASSES, "positive": "yes"}
    kept = {"answers": {}, "audit": audit, "seed": 0, "blind": False}
    return {"kind": DRAW, "draw": draw, "tasks": tasks, "prices": prices, "counts": counts, **facts, **kept}
