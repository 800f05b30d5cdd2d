"""The reviewed cases of a log as training cases: their columns, their outcomes, and how many cases each stands for.

Reviewed cases are no random part of all: every rejected case is looked at, and few of the accepted ones. A case that
was drawn with probability p stands for 1 / p cases. How many were accepted and rejected is known, so the weights of
either kind are scaled to add up to that number: chance in the drawing, and cases that never got a verdict, then change
less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from ..folds import check_groups
from ..labels import preview, to_python
from ..watching.batches import Batch, Reviewed, batches_of


@dataclass(frozen=True, eq=False)
class ReviewedCases:
    """Cases with a verdict, of batches whose accepted cases were audited.

    Attributes
    ----------
    found : Reviewed
        What the log says of them.
    weights : ndarray of shape (n,)
        How many cases each stands for.
    twins : ndarray of int of shape (n,)
        Number of the case: alike for a case that was drawn twice.
    batches : tuple of Batch
        Where they come from.
    unaudited : int
        Batches that were left out, as none of their accepted cases had a chance to be reviewed.
    still_open : int
        Batches that were left out, as they wait for verdicts.
    """

    found: Reviewed
    weights: Floats
    twins: Indices
    batches: tuple[Batch, ...]
    unaudited: int
    still_open: int

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def stands_for(self) -> int:
        """All cases of their batches."""
        return sum(batch.cases for batch in self.batches)


def reviewed_cases(log: Any, classifier: Any, since: str | None = None) -> ReviewedCases:
    """The reviewed cases of a log, from a day on, that a model can learn from."""
    drawn = [batch for batch in batches_of(log.records()) if since is None or _moment(batch.at) >= _moment(since)]
    finished = [batch for batch in drawn if batch.complete]
    if not finished:
        raise ValueError(
            f"The log {log.path} holds no batch{f' since {since}' if since else ''} with all its verdicts: take them "
            "in with `recuse review in` first."
        )
    used = tuple(batch for batch in finished if batch.drawing["audit"] > 0 or batch.accepted == 0)
    _require_audit(used, log.path)
    _require_classes(used, classifier, log.path)
    found = Reviewed.together(batch.reviewed for batch in used)
    return ReviewedCases(
        found, _weights(found, used), _twins(used), used, len(finished) - len(used), len(drawn) - len(finished)
    )


def _moment(written: str) -> datetime:
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        raise ValueError(f"since={written!r} is no day: give one such as 2026-03-31.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _require_audit(used: Iterable[Batch], path: Any) -> None:
    """Refuse to learn from rejected cases only."""
    if not any(len(batch.reviewed) for batch in used) or (
        any(batch.accepted for batch in used) and not any(batch.reviewed.audit.any() for batch in used)
    ):
        raise ValueError(
            f"The log {path} holds no reviewed case that the model had accepted (audit share 0), and a model that "
            "learns from rejected cases only is wrong about all others: draw with `recuse review out --audit 0.05`, "
            "and update when these verdicts are in."
        )


def _require_classes(used: Iterable[Batch], classifier: Any, path: Any) -> None:
    """Refuse verdicts of other classes than those of the model."""
    wanted = [str(to_python(label)) for label in classifier.classes_]
    if len(wanted) > 2:
        raise ValueError(f"models are updated for two classes; this one has {preview(wanted)}: fit it again.")
    for batch in used:
        named = sorted(str(label) for label in batch.drawing["classes"])
        if named != sorted(wanted) or str(batch.drawing["positive"]) != str(to_python(classifier.pos_label_)):
            raise ValueError(
                f"The log {path} has verdicts of the classes {preview(batch.drawing['classes'])}, "
                f"{batch.drawing['positive']!r} being positive, and the model knows {preview(wanted)}, "
                f"{to_python(classifier.pos_label_)!r} being positive: give the log of its own reviews."
            )


def _weights(found: Reviewed, used: Sequence[Batch]) -> Floats:
    """How many cases each stands for."""
    counted = {_answers_of(batch): batch for batch in used}.values()  # answers that were drawn from twice count once
    accepted = sum(batch.accepted for batch in counted)
    rejected = sum(batch.ambiguity + batch.novelty for batch in counted)
    weights = np.concatenate(drawn_weights(used))
    for rows, count in ((found.audit, accepted), (~found.audit, rejected)):
        if rows.any():
            weights[rows] *= count / weights[rows].sum()
    return weights


def drawn_weights(used: Sequence[Batch]) -> list[Floats]:
    """How many cases each stands for: one over its probability, where there is one draw from its answers.

    A later draw from the same answers is among the cases that earlier ones have left. With these, which are known, it
    is an estimate of all by itself, in which each of its own cases counts one over its probability and each earlier one
    counts 1. The weights are those of the mean of such estimates, in proportion to their numbers of cases (Raj, "Some
    estimators in sampling with varying probabilities without replacement", 1956).
    """
    weights: list[Floats] = [1 / batch.reviewed.sampling for batch in used]
    together: dict[str, list[int]] = {}
    for i in sorted(range(len(used)), key=lambda i: (used[i].at, used[i].drawing.get("n", 0))):
        together.setdefault(_answers_of(used[i]), []).append(i)
    for draws in together.values():
        for kind in (True, False):
            rows = [used[i].reviewed.audit == kind for i in draws]
            sizes = np.array([np.count_nonzero(of_kind) for of_kind in rows])
            for k, (i, of_kind) in enumerate(zip(draws, rows, strict=True)):
                weights[i][of_kind] = (sizes[k] * weights[i][of_kind] + sizes[k + 1 :].sum()) / max(1, sizes.sum())
    return weights


def _twins(used: Iterable[Batch]) -> Indices:
    """Number the cases by the answers they stand in and their place there."""
    names = [f"{_answers_of(batch)} {case}" for batch in used for case in batch.reviewed.case]
    numbers = check_groups(names, len(names))
    assert numbers is not None
    return numbers


def _answers_of(batch: Batch) -> str:
    answers: Mapping[str, Any] = batch.drawing["answers"]
    return str(answers.get("digest", batch.draw))


def answered_tables(reviewed: ReviewedCases) -> set[str]:
    """Digests of the answers that the cases stand in."""
    return {_answers_of(batch) for batch in reviewed.batches}
