"""Guarantee: what was promised of a model and what showed it, in words that may be quoted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import Flags
from ..searching import warn_once_in_search
from . import exact
from .claims import Claim
from .promises import Promise


class NoGuaranteeWarning(UserWarning):
    """What was to be promised could not be shown: the model rejects every case.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from recuse import ThresholdRejectClassifier
    >>> from recuse.guarantees import NoGuaranteeWarning
    >>> X, y = np.zeros((100, 1)), np.tile([0, 1], 50)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = ThresholdRejectClassifier(LogisticRegression(), guarantee="error<=0.1").fit(X, y)
    >>> [warning.category.__name__ for warning in caught], model.decide(X).accepted.any()
    (['NoGuaranteeWarning'], np.False_)
    """


@dataclass(frozen=True)
class Shown:
    """What the calibration cases show of one promise, in one group or among all cases.

    Attributes
    ----------
    risk : str
        Which risk: see `Promise`.
    level : float
        What it was to stay below.
    group : object
        Of which group; None for all cases.
    n_cases : int
        Accepted calibration cases that count for it.
    total : float
        How many of them are bad; for "cost" what they cost together.
    bound : float
        The smallest level that these cases show at this threshold by itself, with the same confidence. What is
        promised is `level`: the threshold was chosen among several.
    """

    risk: str
    level: float
    group: Any
    n_cases: int
    total: float
    bound: float

    @classmethod
    def of(cls, claim: Claim, accepted: Flags, alpha: float) -> Shown:
        """What the accepted cases show of a claim."""
        seen, promise = claim.losses.among(accepted), claim.promise
        return cls(promise.risk, promise.level, claim.group, seen.n, seen.total, exact.upper_bound(seen, alpha))

    @property
    def promise(self) -> Promise:
        """The promise itself."""
        return Promise(self.risk, self.level)

    @property
    def counts(self) -> str:
        """What was seen, in words."""
        kind = self.promise.kind
        if self.n_cases == 0:
            return f"no {kind.counted.removesuffix(' cases')} cases that would show it"
        total = f"{self.total:g}" if kind.is_share else f"{self.total:.6g}"
        return f"{total} {kind.faults} among {self.n_cases} {kind.counted}"

    @property
    def where(self) -> str:
        """Of which group, in words."""
        return "" if self.group is None else f" in group {self.group!r}"


@dataclass(frozen=True)
class Guarantee:
    """What the calibration cases show about the accepted cases.

    With probability `confidence`, over the drawing of the calibration cases, every promise holds, in every group that
    was named, for new cases drawn like them.

    Attributes
    ----------
    confidence : float
        Of all promises together.
    threshold : float
        Cases of which the model is surer are accepted; infinite where nothing was shown and every case is rejected.
    n_calibration, n_accepted : int
        Calibration cases, and those accepted.
    shown : tuple of Shown
        What was shown of each promise in each group. Where nothing is promised: what the first threshold that was tried
        showed, in bounds that hold together.
    hint : str
        Where nothing is promised: what could be, and how many rows would do.
    shifted : bool
        Whether the promise is made for a population that `shift_weights` describes.
    n_before : int or None
        Calibration cases that the classifier would accept without a promise; None where the thresholds are moved to
        either side, as by `ThresholdRejectClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from recuse import ThresholdRejectClassifier
    >>> X, y = make_classification(2000, flip_y=0.02, random_state=0)
    >>> model = ThresholdRejectClassifier(LogisticRegression(), guarantee=["error<=0.05", "misses<=0.1"]).fit(X, y)
    >>> model.guarantee_.holds, [shown.risk for shown in model.guarantee_.shown]
    (True, ['error', 'misses'])
    """

    confidence: float
    threshold: float
    n_calibration: int
    n_accepted: int
    shown: tuple[Shown, ...]
    hint: str = ""
    shifted: bool = False
    n_before: int | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what a file holds; older ones have one promise, of an error rate, without a record of its own."""
        if "shown" not in state:
            one = Shown("error", state["level"], None, state["n_accepted"], state["n_errors"], state["error_bound"])
            kept = ("confidence", "threshold", "n_calibration", "n_accepted")
            state = {name: state[name] for name in kept} | {"shown": (one,)}
        self.__dict__.update(state)

    @property
    def holds(self) -> bool:
        """Whether anything is promised."""
        return not self.hint

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What was to be promised."""
        return tuple(dict.fromkeys(shown.promise for shown in self.shown))

    def __str__(self) -> str:
        """The words that may be quoted."""
        if not self.holds:
            return f"Nothing is promised. {self.hint}"
        population = ", in the population that the weights describe," if self.shifted else ""
        said = [f"{one.promise.kind.words}{one.where} is at most {one.level:g}: {one.counts}" for one in self.shown]
        whole = f" ({self.n_accepted} of {self.n_calibration} test cases accepted)."
        return f"With confidence {self.confidence:g}{population} " + "; ".join(said) + whole


def hint(shown: tuple[Shown, ...], rows: float, n_accepted: int, instead: tuple[Shown, ...]) -> str:
    """What could be promised instead, and how many rows would show what was asked for.

    Parameters
    ----------
    shown : tuple of Shown
        At the threshold that was tested.
    rows : float
        How many would do, at the threshold where `instead` was seen.
    n_accepted : int
        Calibration cases accepted at the threshold that was tested.
    instead : tuple of Shown
        The same promises at the threshold where the fewest rows would do.
    """
    asked = ", ".join(dict.fromkeys(str(one.promise) for one in shown))
    start = f"guarantee={asked!r} cannot be shown"
    if n_accepted == 0:
        return f"{start}: none of the calibration cases is accepted."
    failed = [number for number, one in enumerate(shown) if one.bound > one.level] or list(range(len(shown)))
    seen, seen_instead = (_seen([part[number] for number in failed]) for part in (shown, instead))
    # Of a share that no case was seen of, nothing below all of them can be shown.
    known = [shown[n] for n in failed if shown[n].bound < 1 or not shown[n].promise.kind.is_share]
    could = "; ".join(f"{one.risk}<={_rounded_up(one.bound)}{one.where}" for one in known)
    remedy = f"These cases could show {could}." if could else "These cases show nothing of it."
    if math.isinf(rows):
        return f"{start}: {seen}. {remedy} More rows would not help: raise the level, or use a better classifier."
    rate = "If that rate is right" if seen == seen_instead else f"If a threshold with {seen_instead} is what it seems"
    return f"{start}: {seen}. {remedy} {rate}, about {float(f'{rows:.1e}'):.0f} rows would be enough."


def _seen(shown: Sequence[Shown]) -> str:
    return "; ".join(f"{one.counts}{one.where}" for one in shown)


def _rounded_up(bound: float) -> str:
    """A level of two digits, no smaller than the bound."""
    size = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return f"{math.ceil(bound / size - 1e-9) * size:.2g}"


def rejects_everything(shown: Guarantee, what: str) -> str:
    """Say of a model that promises nothing what it does, and what would help."""
    return (
        f"{what} answers no case and rejects every one, because nothing can be promised. {shown.hint} For answers "
        "without a promise, leave it out."
    )


def warn_of_no_guarantee(estimator: Any, shown: Guarantee) -> None:
    """Warn of a fit that promises nothing."""
    message = (
        f"{type(estimator).__name__} rejects every case: {shown.hint} Trying again until something is shown costs "
        f"confidence: give each of k tries 1 - {1 - shown.confidence:.3g} / k."
    )
    warn_once_in_search("no guarantee", message, NoGuaranteeWarning)
