"""The parameters of abstention boosting: checked one by one and together, and resolved."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...parameters import check_choice, check_count, check_number, check_switch, n_threads
from ..binning import resolve_bins
from .data import Inputs, TrainingSet
from .engine.losses import LOSSES
from .engine.rounds import STEPS
from .engine.settings import PAPER, Settings
from .engine.surrogates import SURROGATES
from .interactions.wanted import Wanted, check_interactions, resolve_interactions
from .search import FAMILIES
from .stacking import STACKS

THRESHOLDS = ("tuned", "calibrated")
_DEEPEST = 10


class ParametersMixin:
    """What `AbstentionBoostingClassifier` does with its parameters before a fit; they are described there."""

    loss: str
    surrogate: str
    family: str
    stack: str | None
    n_rounds: int
    beta: float | str
    learning_rate: float | None
    max_depth: int
    max_bins: int | str | None
    monotonic_cst: Any
    step: str
    gamma: float
    b: float | None
    corrective: bool
    interactions: Any
    bags: int | str
    early_stopping: bool
    threshold: str
    tol: float
    n_jobs: int | None
    verbose: int

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range, or do not go together."""
        check_choice("loss", self.loss, LOSSES)
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_choice("family", self.family, FAMILIES)
        check_choice("stack", self.stack, (None, *STACKS))
        check_choice("step", self.step, STEPS)
        check_choice("threshold", self.threshold, THRESHOLDS)
        check_count("n_rounds", self.n_rounds, least=0)
        check_count("max_depth", self.max_depth)
        if self.max_depth > _DEEPEST:
            raise ValueError(f"max_depth must be {_DEEPEST} or less, as memory doubles with it; got {self.max_depth}.")
        if not (isinstance(self.beta, str) and self.beta == "auto"):
            check_number("beta", self.beta, 0.0)
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, 0.0, strict=True, high=1.0)
        check_number("gamma", self.gamma, 0.0)
        check_number("tol", self.tol, 0.0)
        if self.b is not None:
            check_number("b", self.b, 0.0, strict=True)
        check_count("verbose", self.verbose, least=0)
        check_switch("corrective", self.corrective)
        check_switch("early_stopping", self.early_stopping)
        check_interactions(self.interactions)
        if isinstance(self.bags, str) and self.bags != "auto":
            raise ValueError(f"bags must be 'auto' or a number of fits, 1 or more; got {self.bags!r}.")
        if not isinstance(self.bags, str):
            check_count("bags", self.bags)
        self._check_combinations()

    def _check_combinations(self) -> None:
        """Refuse parameters that do not go together."""
        family = FAMILIES[self.family]
        if self.corrective and not family.learns_pair:
            raise ValueError("corrective=True needs a pair of scores: family='coupled' or 'decoupled'.")
        if self.early_stopping and self.max_depth == 1 and isinstance(self.beta, str):
            raise ValueError(
                "early_stopping=True chooses the number of rounds, not the penalty as well: give beta a number, "
                "such as beta=0.0."
            )
        if self.monotonic_cst is not None and self.max_depth > 1:
            raise ValueError(f"monotonic_cst needs stumps, max_depth=1; got max_depth={self.max_depth!r}.")
        if self.gamma > 0 and not family.takes_gamma:
            raise ValueError(f"gamma > 0 belongs to the paper's stumps, family='coupled'; got family={self.family!r}.")
        if self.corrective and (SURROGATES[self.surrogate] or self.max_depth > 1 or self.step == PAPER):
            raise ValueError("corrective=True needs surrogate='sum', max_depth=1 and step='joint' or 'line'.")
        if self._stack_needs_chow and (SURROGATES[self.surrogate] or self.step == PAPER):
            raise ValueError(f"stack={self.stack!r} needs surrogate='sum' and step='joint' or 'line'.")

        if self._n_bags() != 1 and (self.corrective or self.max_depth > 1):
            raise ValueError(
                f"bags={self.bags!r} needs stumps that are not corrected: max_depth=1 and corrective=False; or use "
                "bags=1."
            )
        self._check_interactions()

    def _n_bags(self) -> int | str:
        """The parameter `bags`; "auto" where a path of penalties leads to the fit, and no optimum was asked for."""
        if not isinstance(self.bags, str):
            return int(self.bags)
        settings = self._settings(0)
        return "auto" if settings.tune_beta and settings.follows_path else 1

    def _check_interactions(self) -> None:
        """Refuse pair terms with what they do not go with."""
        if not self._interacts:
            return
        refused = {
            "max_depth": (self.max_depth > 1, "1: deeper trees let features act together already"),
            "stack": (self.stack is not None, "None: a stacked score has no pair terms"),
            "surrogate": (bool(SURROGATES[self.surrogate]), "'sum'"),
            "step": (self.step == PAPER, "'joint' or 'line'"),
        }
        for name, (wrong, remedy) in refused.items():
            if wrong:
                raise ValueError(
                    f"interactions={self.interactions!r} does not go with {name}={getattr(self, name)!r}: use "
                    f"{name}={remedy}; or interactions=None."
                )

    @property
    def _interacts(self) -> bool:
        """Whether pair terms are asked for."""
        wanted = self.interactions
        return wanted is not None and not (np.ndim(wanted) == 0 and wanted == 0) and np.size(wanted) > 0

    def _check_combination_with(self, training: TrainingSet, *, by_case: bool) -> None:
        """Refuse parameters that do not go with the training set."""
        family = FAMILIES[self.family]
        if training.categories.columns and self.max_depth > 1:
            raise ValueError(
                f"Categories need stumps, max_depth=1; got max_depth={self.max_depth!r} and categories in column "
                f"{training.categories.columns[0]}. Encode them, or set categorical_features=None."
            )
        if by_case and (family.uses_chow or self._stack_needs_chow):
            raise ValueError(
                f"reject_cost by case does not go with family={self.family!r}, stack={self.stack!r}: Chow's rule would "
                "need the price of every new case. Use family='coupled' or 'decoupled' and stack=None or 'oof'."
            )
        if self.stack is not None and family.learns_pair and not training.partition:
            raise ValueError(
                f"stack={self.stack!r} needs a held-out score of every case, but the test parts of cv do not "
                "hold out every case exactly once. Use folds, such as cv=5."
            )

    @property
    def _stack_needs_chow(self) -> bool:
        return self.stack is not None and STACKS[self.stack].needs_chow

    def _needs_held_out(self) -> bool:
        """Whether anything is chosen on held-out cases, or a score is stacked."""
        family = FAMILIES[self.family]
        open_choices = self.beta == "auto" or self.early_stopping or self.max_depth > 1 or family.several
        tuned = self.threshold == "tuned" and family.learns_pair
        return bool(open_choices or tuned or self.stack is not None or self._interacts)

    def _settings(self, n_rows: int) -> Settings:
        """The parameters, resolved; each candidate puts in its own family of stumps."""
        rate = (1.0 if self.max_depth == 1 else 0.1) if self.learning_rate is None else float(self.learning_rate)
        chooses_rounds = bool(self.early_stopping) or self.max_depth > 1
        automatic = isinstance(self.beta, str)
        return Settings(
            loss=self.loss,
            exponents=SURROGATES[self.surrogate],
            b=None if self.b is None else float(self.b),
            gamma=float(self.gamma),
            n_rounds=int(self.n_rounds),
            beta=0.0 if automatic else float(self.beta),
            learning_rate=rate,
            max_depth=int(self.max_depth),
            max_bins=resolve_bins(self.max_bins, n_rows, exact_rows=0),
            step=self.step,
            corrective=bool(self.corrective),
            tune_beta=automatic and not chooses_rounds,
            tune_rounds=chooses_rounds,
            tune_threshold=self.threshold == "tuned",
            tol=float(self.tol),
            n_threads=n_threads(self.n_jobs),
        )

    def _wanted_pairs(self, training: TrainingSet, inputs: Inputs) -> Wanted:
        """The parameter `interactions`, resolved."""
        signs = np.zeros(inputs.n_features, dtype=np.int8) if training.monotonic is None else training.monotonic
        return resolve_interactions(self.interactions, signs, inputs.feature_names)
