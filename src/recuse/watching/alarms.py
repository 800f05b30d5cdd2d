"""What is watched: each alarm takes the reference and then batch after batch, and says how strong its evidence is.

An alarm is a class with `start(reference)`, which takes in the reference, and `add(batch)`, which returns the evidence
after one more batch, or None where the batch says nothing about it. Its `kind` says what an alarm would mean:

- "promise": the cases that the model accepts cost more than was promised.
- "concept": cases of the same score turn out otherwise than they did: the model is wrong about what it once knew.
- "difficulty": more or fewer cases are ambiguous.
- "novelty": more or fewer cases are unlike anything seen.
- "columns": a column has other values than it had, among cases that were drawn in the same way.

Whatever a bet needs to know (which scores are alike, how frequent outcomes are, which categories there are) is learned
from one half of the reference, and later cases are ranked among the other half: what is learned from cases must not
depend on those that are ranked, or these would not be alike.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..guarantees.promises import Promise
from ..guarantees.risks import ForcedAnswers
from .batches import AUDITED, Batch, Reviewed
from .evidence import (
    MEAN_PARTS,
    RANK_PARTS,
    Evidence,
    bets_on_counts,
    bets_on_mean,
    bets_on_ranks,
    mean_stakes,
    start_share,
)
from .ranks import CountRanks, ValueRanks

PROMISE, CONCEPT, DIFFICULTY, NOVELTY, COLUMNS = "promise", "concept", "difficulty", "novelty", "columns"
_PER_GROUP = 20  # cases of the half of the reference that groups of like scores are learned from
_MOST_GROUPS = 8
_PRIOR = 40  # cases that a probability of the model counts as much as, where the share of a group is learned
_LEVELS = np.array([-0.8, -0.35, 0.35, 0.8])  # changes of log-odds
_MULTIPLES = np.array([-0.4, -0.2, 0.2, 0.4])  # changes of what log-odds are multiplied by
_NUMBERS = 0.9  # share of the values that are numbers in a column of numbers


class Alarm(Protocol):
    """What every alarm has."""

    kind: str
    name: str

    def add(self, batch: Batch) -> float | None:
        """Evidence after one more batch; None where it says nothing."""


class PromiseAlarm:
    """The audited cases, a random part of the accepted ones, against a promise about these.

    It needs no reference: the promise is a number. Losses are divided by the largest price.
    """

    kind = PROMISE

    def __init__(self, promise: Promise, costs: Costs) -> None:
        self.promise, self.name = promise, str(promise)
        self._costs, self._largest = costs, 1.0 if promise.kind.is_share else max(costs.fp, costs.fn)
        self._evidence = Evidence(MEAN_PARTS)

    @property
    def level(self) -> float:
        """What was promised, as a share of the largest loss; at 1 and above it cannot be broken."""
        return self.promise.level / self._largest

    def add(self, batch: Batch) -> float | None:
        """Evidence that the promise is broken."""
        amounts, sampling = self._losses(batch.reviewed)
        if not batch.complete or len(amounts) == 0:
            return None
        weights = sampling.min() / sampling
        return self._evidence.add(bets_on_mean(amounts / self._largest, weights, self.level))

    def audits_to_find(self, factor: float, threshold: float, batches: int) -> float:
        """About how many audited cases show that the loss is `factor` times what was promised, from some batch on."""
        mean, stakes = min(1.0, factor * self.level), mean_stakes(self.level)
        growth = mean * np.log1p(stakes * (1 - self.level)) + (1 - mean) * np.log1p(-stakes * self.level)
        wanted = np.log(threshold / (MEAN_PARTS * start_share(batches + 1)))
        return float((wanted / np.maximum(growth, 1e-12)).min())

    def _losses(self, reviewed: Reviewed) -> tuple[Floats, Floats]:
        """What the audited cases that count for the promise cost, and the probability with which each was drawn."""
        audits = reviewed.among(reviewed.audit)
        truth, forced = audits.positive.astype(np.intp), audits.forced_positive.astype(np.intp)
        losses = self.promise.kind.losses(ForcedAnswers(truth, forced, self._costs))
        return losses.amounts[losses.relevant], audits.sampling[losses.relevant]


class RateAlarm:
    """The share of ambiguous cases, or of novelties, against that of the reference; of each file of answers once."""

    def __init__(self, kind: str, random: np.random.Generator) -> None:
        self.kind = kind
        self.name = "share of ambiguous cases" if kind == DIFFICULTY else "share of novelties"
        self._random, self._ranks = random, CountRanks(np.ones((1, 1)), random)
        self._evidence = Evidence(np.full(len(_LEVELS), 1 / len(_LEVELS)))

    def start(self, reference: list[Batch]) -> None:
        """Learn the share from half of the reference, and take in the other."""
        values = self._random.permutation(np.concatenate([self._values(batch) for batch in reference]))
        learned, compared = np.array_split(values, 2)
        self._share = np.array([(np.count_nonzero(learned) + 0.5) / (len(learned) + 1)])
        self._ranks.start(compared, np.zeros(len(compared), dtype=np.intp))

    def add(self, batch: Batch) -> float | None:
        """Evidence that the share is another one."""
        values = self._values(batch)
        if not batch.complete or len(values) == 0:
            return None
        ranks, spreads = self._ranks.add(values, np.zeros(len(values), dtype=np.intp), self._share)
        return self._evidence.add(bets_on_counts(ranks[:, 0], spreads[:, 0], _LEVELS))

    def _values(self, batch: Batch) -> Flags:
        """Which cases are of that kind, in any order: within a batch, nothing is known of it."""
        if batch.again:
            return np.empty(0, dtype=bool)
        if self.kind == NOVELTY:
            return self._random.permutation(np.arange(batch.cases) < batch.novelty)
        return self._random.permutation(np.arange(batch.cases - batch.novelty) < batch.ambiguity)


class ConceptAlarm:
    """Outcomes of reviewed cases against those that cases of about the same score had in the reference.

    Groups are made of the scores of the reference, apart for cases that were drawn in different ways: how many cases
    fall into a group is another question. Two things are counted. Positives: they became more frequent, or less, by a
    change of the log-odds that is the same at every score. And positives weighted by the log-odds of their group: the
    score says less than it did, or more, as log-odds are now a multiple of what they were. Each is counted apart for
    audited and for rejected cases, and bets are made on both together and on either: a change may show in one alone.

    Ranks of the two counts must not be combined (see `CountRanks`). Each has evidence of its own, and that of the alarm
    is half of the larger: it reaches c while nothing changes only if one of the two reaches 2 c.
    """

    kind, name = CONCEPT, "outcomes of cases of the same score"

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._evidence = [(changes, Evidence(_parts_of_places(len(changes)))) for changes in (_LEVELS, _MULTIPLES)]

    def start(self, reference: Reviewed) -> None:
        """Make groups, and learn how frequent positive outcomes are in each, from half; take in the other half."""
        learned, compared = _halves(reference, self._random)
        self._edges = {way: _edges(learned.scores[learned.drawn_as == way]) for way in range(AUDITED + 1)}
        groups = self._groups(learned)
        self._shares = np.full((AUDITED + 1) * (_MOST_GROUPS + 1), _share(learned))
        for group in np.unique(groups):
            self._shares[group] = _share(learned.among(groups == group))
        is_audited = np.arange(len(self._shares)) // (_MOST_GROUPS + 1) == AUDITED
        places = np.array([is_audited, ~is_audited], dtype=np.float64)
        self._ranks = CountRanks(np.vstack([places, places * logit(self._shares)]), self._random)
        self._ranks.start(compared.positive, self._groups(compared))

    def add(self, batch: Batch) -> float | None:
        """Evidence that outcomes follow from scores in another way."""
        if not batch.complete or len(batch.reviewed) == 0:
            return None
        ranks, spreads = self._ranks.add(batch.reviewed.positive, self._groups(batch.reviewed), self._shares)
        larger = 0.0
        for number, (changes, evidence) in enumerate(self._evidence):
            places = (2 * number, 2 * number + 1)
            audited, rejected = (bets_on_counts(ranks[:, place], spreads[:, place], changes) for place in places)
            larger = max(larger, evidence.add(np.hstack([audited * rejected, audited, rejected])))
        return larger / len(self._evidence)

    def _groups(self, reviewed: Reviewed) -> Indices:
        """Number of each case's group; cases without a score have a group of their own."""
        groups = np.empty(len(reviewed), dtype=np.intp)
        for way, edges in self._edges.items():
            rows = reviewed.drawn_as == way
            scores = reviewed.scores[rows]
            found = np.where(np.isnan(scores), _MOST_GROUPS, np.searchsorted(edges, scores, side="right"))
            groups[rows] = found + way * (_MOST_GROUPS + 1)
        return groups


class ColumnAlarm:
    """The values of a column among the reviewed cases, apart for those that were drawn in different ways.

    Numbers are compared as they are; categories by how frequent they were in half of the reference, where those that
    were not in it are the rarest. What is missing, or no number in a column of numbers, is below all.
    """

    kind = COLUMNS

    def __init__(self, column: str, random: np.random.Generator) -> None:
        self.name = column
        self._random, self._ranks, self._evidence = random, ValueRanks(random), Evidence(RANK_PARTS)

    def start(self, reference: Reviewed) -> None:
        """Learn from half whether it holds numbers, and which categories; take in the other half."""
        learned, compared = _halves(reference, self._random)
        texts = [text for text in values_of(learned, self.name) if text]
        self._codes = None if holds_numbers(texts) else _codes(texts)
        self._ranks.start(self._values(compared), compared.drawn_as)

    def add(self, batch: Batch) -> float | None:
        """Evidence that its values are others."""
        if not batch.complete or len(batch.reviewed) == 0:
            return None
        values, groups = self._values(batch.reviewed), batch.reviewed.drawn_as
        return self._evidence.add(bets_on_ranks(self._ranks.add(values, groups)))

    def _values(self, reviewed: Reviewed) -> Floats:
        texts = values_of(reviewed, self.name)
        if self._codes is None:
            numbers = [_as_number(text) for text in texts]
            return np.array([-np.inf if number is None else number for number in numbers], dtype=np.float64)
        return np.array([self._codes.get(text, 0.0) if text else -np.inf for text in texts], dtype=np.float64)


def is_identifier(reference: Reviewed, column: str) -> bool:
    """Whether a column only tells cases apart: another text or whole number in nearly every row."""
    texts = [text for text in values_of(reference, column) if text]
    numbers = [_as_number(text) for text in texts]
    fractions = any(number is not None and number != np.floor(number) for number in numbers)
    return len(texts) > 0 and not fractions and len(set(texts)) > 0.95 * len(texts)


def values_of(reviewed: Reviewed, column: str) -> list[Any]:
    """The texts that reviewers saw in a column."""
    return [shown.get(column) for shown in reviewed.shown]


def holds_numbers(texts: list[str]) -> bool:
    """Whether nearly all of these are numbers."""
    return sum(_as_number(text) is not None for text in texts) >= _NUMBERS * len(texts)


def _codes(texts: list[str]) -> dict[str, float]:
    """Categories by how frequent they are, from 1 for the rarest."""
    counted = sorted(Counter(texts).items(), key=lambda item: (item[1], item[0]))
    return {text: float(place) for place, (text, _) in enumerate(counted, 1)}


def _halves(reference: Reviewed, random: np.random.Generator) -> tuple[Reviewed, Reviewed]:
    """Two halves at random."""
    first, second = np.array_split(random.permutation(len(reference)), 2)
    return reference.among(first), reference.among(second)


def _parts_of_places(n_changes: int) -> Floats:
    """Parts of the stake: one half for bets on audited and rejected cases together, a quarter for those on either."""
    return np.repeat([1 / 2, 1 / 4, 1 / 4], n_changes) / n_changes


def _share(learned: Reviewed) -> float:
    """How frequent positive outcomes are among these cases; of few, nearer to what the model says of them."""
    scores = learned.scores[np.isfinite(learned.scores)]
    are_probabilities = len(scores) > 0 and scores.min() >= 0 and scores.max() <= 1
    prior = float(np.clip(scores.mean(), 0.005, 0.995)) if are_probabilities else 0.5
    weight = _PRIOR if are_probabilities else 1.0
    return float((np.count_nonzero(learned.positive) + weight * prior) / (len(learned) + weight))


def _edges(scores: Floats) -> Floats:
    """Scores between groups of about as many cases."""
    known = scores[np.isfinite(scores)]
    n_groups = int(np.clip(len(known) // _PER_GROUP, 1, _MOST_GROUPS))
    return np.unique(np.quantile(known, np.linspace(0, 1, n_groups + 1)[1:-1])) if n_groups > 1 else np.empty(0)


def _as_number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return None if np.isnan(number) else number
