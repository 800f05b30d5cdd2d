"""A method fitted on part of the cases, with a promise that the others have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ..guarantees import GuaranteedRejectClassifier, Promise
from ..guarantees.promises import as_promises
from ..guarantees.splitting import split_rows
from ..labels import preview
from ..parameters import check_share
from ..tables import Cases
from .folds import fit_model
from .methods import Method
from .plans import Task

_CALIBRATION_SIZE = 0.3
DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Pledge:
    """What is to be promised of the model that is fitted at the end.

    Attributes
    ----------
    promises : tuple of Promise
        What is to hold.
    confidence : float
        Of all together.
    per : str or None
        Column in each of whose groups it is to hold.
    """

    promises: tuple[Promise, ...]
    confidence: float
    per: str | None = None

    @classmethod
    def of(
        cls,
        promise: Any,
        confidence: float | None,
        promise_groups: str | None = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Pledge | None:
        """Check the arguments; None where nothing is promised."""
        if promise is None:
            for name, value in (("confidence", confidence), ("promise_groups", promise_groups)):
                if value is not None:
                    raise ValueError(f"{name}={value!r} is that of a promise: give promise as well.")
            return None
        for name, value in (("groups", groups), ("time", time)):
            if value is not None:
                raise ValueError(
                    f"promise={promise!r} needs cases that are independent of each other and drawn alike: leave out "
                    f"{name}, or give one case per group."
                )
        confidence = DEFAULT_CONFIDENCE if confidence is None else confidence
        check_share("confidence", confidence)
        return cls(as_promises(promise), float(confidence), promise_groups)

    @property
    def columns(self) -> list[str]:
        """The columns that it is about, be they features or not."""
        return [] if self.per is None else [self.per]

    def groups_of(self, cases: Cases, testing: Cases) -> Any:
        """The groups of the cases that are to show it; none of the table may be lacking there."""
        if self.per is None:
            return None
        lacking = set(cases.beside[self.per].dropna()) - set(testing.beside[self.per])
        if lacking:
            raise ValueError(
                f"promise_groups={self.per!r}: no case of {preview(sorted(map(str, lacking)))} is among the "
                f"{len(testing.outcomes)} that test the promise: put small groups together."
            )
        return testing.beside[self.per].to_numpy()


def fit_promised(method: Method, task: Task, cases: Cases, pledge: Pledge) -> Pipeline:
    """Fit a method on 70 % of the cases and make the promise by the others; return the whole as one Pipeline.

    A fifth of the others places the sequence of thresholds: folds of a method would take as long as comparing it.
    """
    split = split_rows(len(cases.outcomes), _CALIBRATION_SIZE, fitted=False, random_state=task.seed)
    fitting, testing = (cases.take(np.sort(rows)) for rows in split)
    groups = pledge.groups_of(cases, testing)
    model, _ = fit_model(method, task, fitting.features, fitting.outcomes)
    promised = GuaranteedRejectClassifier(
        FrozenEstimator(model), guarantee=list(pledge.promises), confidence=pledge.confidence, random_state=task.seed
    )
    promised._fit_with_part(testing.features, testing.outcomes, groups, len(cases.outcomes))
    return promised.as_pipeline()


def fit_at_the_end(method: Method, task: Task, cases: Cases, pledge: Pledge | None) -> Pipeline:
    """Fit a method on all cases, or with a promise on those that do not have to show it."""
    if pledge is not None:
        return fit_promised(method, task, cases, pledge)
    return fit_model(method, task, cases.features, cases.outcomes, cases.groups)[0]
