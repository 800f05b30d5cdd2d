"""Settings: the estimator's parameters, resolved; every stage of a fit reads the same object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from .losses import LOSSES
from .stumps import SCORE, STUMP_FAMILIES

PAPER = "paper"  # the step printed in the paper
_SHARPENING = 60  # rounds after which the maximum is reached, where the number of rounds is chosen


@dataclass(frozen=True)
class Settings:
    """How to boost, and what is chosen on held-out cases; names as in the estimator unless listed here.

    Attributes
    ----------
    family : str
        A name in `STUMP_FAMILIES`: what the stumps look like.
    exponents : tuple of float
        Exponents of the surrogate to go through on the way to the maximum; none for the sum.
    intercepts : bool
        Whether scores have intercepts; AdaBoost's has none.
    beta : float
        Penalty; 0 where `tune_beta` chooses it.
    path : tuple of (float, int)
        Falling penalties to go through, the last of them `beta`, each with the round at which it ends at the latest;
        the fit ends with the last. Without any, `beta` is boosted from the start, up to `n_rounds` rounds or `tol`.
    tune_beta, tune_rounds, tune_threshold : bool
        What held-out cases choose.
    interactions : int, tuple of pairs of columns, "auto" or None
        Pair terms to be boosted after the stumps.
    certify_every : int
        Rounds between two readings of objective and gap; 0 chooses it by the size of the data.
    """

    family: str = "coupled"
    loss: str = "logistic"
    exponents: tuple[float, ...] = ()
    b: float | None = None
    gamma: float = 0.0
    n_rounds: int = 200
    beta: float = 0.0
    path: tuple[tuple[float, int], ...] = ()
    learning_rate: float = 1.0
    max_depth: int = 1
    max_bins: int | None = None
    step: str = "joint"
    intercepts: bool = True
    corrective: bool = False
    tune_beta: bool = False
    tune_rounds: bool = False
    tune_threshold: bool = False
    tol: float = 1e-6
    n_threads: int = 1
    interactions: int | tuple[tuple[int, int], ...] | str | None = None
    certify_every: int = 0

    @cached_property
    def free_h(self) -> bool:
        """Whether h has an intercept: the paper's step takes none."""
        return self.intercepts and self.step != PAPER

    @cached_property
    def free_r(self) -> bool:
        """Whether r has an intercept; ordinary stumps have no r."""
        return self.free_h and STUMP_FAMILIES[self.family].has_r

    @property
    def sharpening_rounds(self) -> int:
        """Number of rounds on the way to the maximum; all of them unless their number is chosen."""
        return min(self.n_rounds, _SHARPENING) if self._stops_early else self.n_rounds

    @property
    def first_comparable_round(self) -> int:
        """Round from which losses can be compared: on the way to the maximum every stage has its own."""
        return self.sharpening_rounds if self.exponents and self._stops_early else 0

    @property
    def follows_path(self) -> bool:
        """Whether penalties are gone through from the largest on, each from the model of the one before.

        On the way to the maximum the loss changes from stage to stage, and a corrective fit ends at its optimum anyway.
        """
        return self.max_depth == 1 and not self.exponents and not self.corrective and self.step != PAPER

    @property
    def _stops_early(self) -> bool:
        return self.tune_rounds and self.max_depth == 1

    @property
    def price_only_shifts_r(self) -> bool:
        """Whether a fit at another reject price would have the same h, and an r that differs by a constant."""
        exact = self.b is not None and not self.exponents and self.max_depth == 1 and self.step != PAPER
        return exact and LOSSES[self.loss].price_only_shifts_r

    def of_score(self) -> Settings:
        """The same for a score h without a rejector: ordinary stumps and the loss of -y h."""
        step = "joint" if self.step == PAPER else self.step
        return replace(self, family=SCORE, exponents=(), gamma=0.0, step=step, corrective=False, tune_threshold=False)
