"""Claims: what has to be shown of one threshold, all of it at once.

A threshold may be used if every promise holds there, in every group that was named. The hypothesis to be refuted is
"one of them does not", and it is refuted when each test refutes its own: so no test has to be stricter because there
are several (an intersection-union test; Berger, 1982), and all that is promised holds together with the confidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Flags, Indices
from ..folds import check_groups
from ..labels import as_labels, to_python
from . import exact
from .promises import Promise
from .risks import ForcedAnswers, Losses


@dataclass(frozen=True, eq=False)
class PromiseGroups:
    """The groups of cases in each of which a promise is to hold.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        Number of the group of each case.
    names : tuple
        What the groups are called.
    """

    codes: Indices
    names: tuple[Any, ...]

    @classmethod
    def of(cls, labels: Any, n: int) -> PromiseGroups | None:
        """Number groups by any labels; None for none."""
        codes = check_groups(labels, n, "promise_groups", remedy="leave out those whose group is not known.")
        if codes is None:
            return None
        first = np.unique(codes, return_index=True)[1]
        return cls(codes, tuple(to_python(label) for label in as_labels(labels)[first]))

    def take(self, rows: Indices) -> PromiseGroups:
        """The groups of some of the cases; all groups stay, also those without a case among these."""
        return PromiseGroups(self.codes[rows], self.names)


@dataclass(frozen=True, eq=False)
class Claim:
    """One promise in one group, or among all cases, and what each case adds to its risk."""

    promise: Promise
    losses: Losses
    group: Any = None

    def p_value(self, accepted: Flags, alpha: float) -> float:
        """P-value of "these cases break the promise"."""
        return exact.p_value(self.losses.among(accepted), self.promise.level, alpha)


@dataclass(frozen=True, eq=False)
class Claims:
    """All that has to be shown of one threshold."""

    each: tuple[Claim, ...]

    @classmethod
    def of(cls, promises: tuple[Promise, ...], answers: ForcedAnswers, groups: PromiseGroups | None) -> Claims:
        """Every promise, in every group if there are groups."""
        found = []
        for promise in promises:
            losses = promise.kind.losses(answers)
            if groups is None:
                found.append(Claim(promise, losses))
                continue
            found += [Claim(promise, losses.of(groups.codes == i), name) for i, name in enumerate(groups.names)]
        return cls(tuple(found))

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.each)

    def __len__(self) -> int:
        return len(self.each)

    def p_value(self, accepted: Flags, alpha: float) -> float:
        """P-value of "one of them does not hold for the accepted cases": the largest of all."""
        return max(claim.p_value(accepted, alpha) for claim in self)

    def chance(self, accepted: Flags, share: float, alpha: float) -> float:
        """Estimated probability that all are shown by other cases, `share` times as many as these.

        As if the tests were independent; only the order of such chances matters.
        """
        found = 1.0
        for claim in self:
            seen = claim.losses.among(accepted)
            found *= exact.chance(seen, int(seen.n * share), claim.promise.level, alpha)
        return found

    def expected_excess(self, accepted: Flags, share: float, alpha: float) -> float:
        """The largest ratio, over all claims, of the level that other cases would likely show to the one promised."""
        found = []
        for claim in self:
            seen = claim.losses.among(accepted)
            found.append(exact.likely_bound(seen, int(seen.n * share), alpha) / claim.promise.level)
        return max(found)

    def times_needed(self, accepted: Flags, alpha: float) -> float:
        """How many times these cases it would take, if what was seen is the truth; infinite where none would do."""
        return max(
            exact.rows_needed(seen, claim.promise.level, alpha) / seen.n if seen.n else np.inf
            for claim in self
            for seen in [claim.losses.among(accepted)]
        )
