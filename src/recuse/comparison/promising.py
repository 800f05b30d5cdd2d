"""A method fitted on part of the cases, with a promise that the others have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ..arrays import Indices
from ..guarantees import GuaranteedRejectClassifier, Promise
from ..guarantees.promises import as_promises, check_promises
from ..guarantees.splitting import Split, split_rows
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

    def require_possible(self, cases: Cases, seed: int) -> None:
        """Refuse before anything is fitted what would be refused at the end."""
        check_promises(self.promises, len(cases.classes))
        self._require_groups(cases, _split(cases, seed).testing)

    @property
    def columns(self) -> list[str]:
        """The columns that it is about, be they features or not."""
        return [] if self.per is None else [self.per]

    def groups_of(self, testing: Cases) -> Any:
        """The groups of the cases that are to show it."""
        return None if self.per is None else testing.beside[self.per].to_numpy()

    def _require_groups(self, cases: Cases, testing: Indices) -> None:
        """Refuse cases without a group, and groups without a case among those that are to show it."""
        if self.per is None:
            return
        labels = cases.beside[self.per]
        n_empty = int(labels.isna().sum())
        if n_empty:
            raise ValueError(
                f"promise_groups={self.per!r} is empty in {n_empty} of {len(labels)} rows; every case needs a group: "
                "fill it in, or leave these rows out."
            )
        lacking = set(labels) - set(labels.iloc[testing])
        if lacking:
            raise ValueError(
                f"promise_groups={self.per!r}: no case of {preview(sorted(map(str, lacking)))} is among the "
                f"{len(testing)} that test the promise: put small groups together."
            )


def _split(cases: Cases, seed: int) -> Split:
    """The rows that fit the method, and those that are held out for the promise."""
    return split_rows(len(cases.outcomes), _CALIBRATION_SIZE, fitted=False, random_state=seed)


def fit_promised(method: Method, task: Task, cases: Cases, pledge: Pledge) -> Pipeline:
    """Fit a method on 70 % of the cases and make the promise by the others; return the whole as one Pipeline.

    A fifth of the others places the sequence of thresholds: folds of a method would take as long as comparing it.
    """
    fitting, testing = (cases.take(np.sort(rows)) for rows in _split(cases, task.seed))
    model, _ = fit_model(method, task, fitting.features, fitting.outcomes)
    promised = GuaranteedRejectClassifier(
        FrozenEstimator(model), guarantee=list(pledge.promises), confidence=pledge.confidence, random_state=task.seed
    )
    promised._fit_with_part(testing.features, testing.outcomes, pledge.groups_of(testing), len(cases.outcomes))
    return promised.as_pipeline()


def fit_at_the_end(method: Method, task: Task, cases: Cases, pledge: Pledge | None) -> Pipeline:
    """Fit a method on all cases, or with a promise on those that do not have to show it."""
    if pledge is not None:
        return fit_promised(method, task, cases, pledge)
    return fit_model(method, task, cases.features, cases.outcomes, cases.groups)[0]
