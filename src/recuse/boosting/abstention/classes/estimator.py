"""What `AbstentionBoostingClassifier` does with three or more classes."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ....arrays import Floats
from ....base import RejectOptionMixin, require_two_classes
from ....costs import Costs, as_costs
from ....decisions import Evaluation
from ....explaining import SCORE, Contributions
from ....labels import to_python
from ....progress import shown_progress
from ...additive_model import INTERCEPT, as_frame
from ...reasons import feature_names
from ..data import Checked, Inputs
from ..engine.settings import Settings
from ..selection import choose, held_out_means
from .data import ClassTraining, prepare_classes
from .forms import ClassShapeFunction
from .options import options_for
from .rounds import ClassSettings
from .rules import ClassChow, ClassLearned, ClassRejector, ClassRule
from .search import COUPLED, DECOUPLED, ClassCandidate, ClassSearch, search_classes

# Parameters that know two classes only -> the values that three or more take, the first of them as the remedy.
_TAKEN: dict[str, tuple[Any, ...]] = {
    "loss": ("logistic",),
    "surrogate": ("sum",),
    "stack": (None, "start"),
    "max_depth": (1,),
    "monotonic_cst": (None,),
    "step": ("joint",),
    "gamma": (0.0,),
    "b": (None,),
    "corrective": (False,),
}
_MORE_ROUNDS = 4  # times as many rounds as for two classes: a cut that serves one class may say little of others
_OF_TWO = ("_pair", "_fit", "_bound", "_separated", "_edits", "_stages", "stumps_", "weights_", "score_functions_")


class SeveralClassesMixin(RejectOptionMixin):
    """Fit, answers and explanations for three or more classes; with two, whatever stands behind it in the bases."""

    _rule: ClassRule
    n_features_in_: int
    family: str
    stack: str | None
    n_rounds: int
    n_jobs: int | None
    cv: Any
    random_state: Any
    verbose: int

    @property
    def _several(self) -> bool:
        """Whether the model was fitted to three or more classes."""
        return hasattr(self, "_rule")

    def _require_two_classes(self, what: str, remedy: str) -> None:
        """Refuse what knows two classes only."""
        check_is_fitted(self)
        if self._several:
            raise ValueError(f"{what} for two classes only; this model has {len(self.classes_)}: {remedy}.")

    # Fit

    def _name_of_two_class_option(self) -> str | None:
        """The first parameter that is set to what only two classes have; None where there is none."""
        for name, taken in _TAKEN.items():
            value = getattr(self, name, taken[0])  # models in old files lack younger parameters
            if not any(
                value is known or (known is not None and np.ndim(value) == 0 and value == known) for known in taken
            ):
                return name
        if self.family == COUPLED and self.stack is not None:
            return "stack"
        return "interactions" if getattr(self, "interactions", None) is not None and self._interacts else None

    def _refuse_what_takes_two(self, classes: NDArray[Any], reject_cost: Any) -> None:
        """Refuse parameters that know two classes only."""
        name = self._name_of_two_class_option()
        if name is not None:
            remedy = _TAKEN.get(name, (None,))[0]
            require_two_classes(
                classes,
                f"{name}={getattr(self, name)!r} is for two classes: use {name}={remedy!r}, or compare two of them, or "
                "one with the rest.",
            )
        if reject_cost is not None:
            require_two_classes(
                classes, "reject_cost by case is for two classes: give a price for each class, costs=Costs(reject=...)."
            )

    def _fit_several(self, checked: Checked, X: Any, sample_weight: Any, groups: Any, settings: Settings) -> Self:
        """Fit three or more classes; nothing is stored before everything is known."""
        needs, bags = self._needs_held_out() or self.family == DECOUPLED, self._n_bags()
        training = prepare_classes(self, checked, groups, with_folds=needs, n_bags=bags)
        if self.family == DECOUPLED and not training.partition:
            raise ValueError(
                "family='decoupled' needs held-out probabilities of every case, but the test parts of cv do not hold "
                "out every case exactly once. Use folds, such as cv=5, or family='coupled'."
            )
        boosting = ClassSettings(
            n_rounds=settings.n_rounds * _MORE_ROUNDS,
            beta=settings.beta,
            learning_rate=settings.learning_rate,
            tol=settings.tol,
        )
        search = ClassSearch(
            training,
            options_for(boosting, tune_beta=settings.tune_beta, tune_rounds=settings.tune_rounds),
            max_bins=settings.max_bins,
            tune_threshold=settings.tune_threshold,
            n_threads=settings.n_threads,
        )
        with shown_progress(self.verbose):
            candidates = list(search_classes(search, self.family, self.stack))
        self._store_several(checked.inputs, training, candidates)
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _store_several(self, inputs: Inputs, training: ClassTraining, candidates: list[ClassCandidate]) -> None:
        chosen = choose(candidates, training)
        inputs.store(self)
        for name in _OF_TWO:
            self.__dict__.pop(name, None)  # of an earlier fit
        self._publish(chosen.solution)
        self._rule = chosen.rule
        means = held_out_means(candidates, training)
        self.held_out_costs_ = {name: mean * inputs.costs.unit for name, mean in means.items()}
        self.candidates_: dict[str, Any] = {candidate.name: candidate.rule for candidate in candidates}
        self.family_, self.beta_, self.threshold_ = chosen.name, chosen.beta, chosen.rule.threshold
        self.history_, self.converged_ = chosen.solution.history, chosen.solution.converged
        self.dual_gap_ = float(self.history_["dual_gap"][-1])
        form = chosen.rule.form
        self.intercept_: Any = (form.h0, form.r0)
        self.shape_functions_: Any = form.shapes
        self.interaction_functions_: Any = []

    # Answers

    def _evaluate_several(self, X: NDArray[Any]) -> Evaluation:
        answers = self._rule.evaluate(X)
        return Evaluation(answers.h, answers.r, detail=X, class_scores=answers.shown)

    def _probabilities(self, X: NDArray[Any]) -> Floats:
        assert not isinstance(self._rule, ClassLearned)
        return self._rule.probabilities(X)

    def _repriced_several(self, costs: Costs | float) -> Self:
        """A fitted copy that answers at other prices."""
        if not isinstance(self._rule, ClassChow):
            raise ValueError(
                "With three or more classes only family='chow' answers at other prices than those of fit; this model "
                f"has family {self.family_!r}: fit again."
            )
        other = copy(self)
        other.costs = as_costs(costs)
        other.costs_ = other.costs.for_classes(self.classes_)
        other.costs_.require_rejecting_pays(len(self.classes_))
        other._rule = replace(self._rule, matrix=other._oriented_costs().matrix(len(self.classes_)))
        return other

    # What the columns say

    def _speaking(self, X: Any) -> Contributions | None:
        """What each column adds to the score of the best answer beyond that of its rival, more than on average."""
        if not self._several:
            return super()._speaking(X)
        X = self._numbers(X)
        best = self._evaluate_several(X).two_best()
        added = self._rule.form.contributions(X)
        rows = np.arange(len(X))
        amounts = added[rows, :, best.first] - added[rows, :, best.second]
        between = np.column_stack([best.second, best.first])
        return Contributions(amounts, np.zeros(len(X)), SCORE, between=between)

    def _hardening(self, X: Any) -> Contributions | None:
        """What each column adds to the acceptance score, more than on average."""
        if not self._several:
            return super()._hardening(X)
        if not self._rule.learned:
            return None
        X = self._numbers(X)
        return Contributions(self._rule.form.contributions(X)[:, :, -1], np.zeros(len(X)), SCORE, note=self._note)

    @property
    def _note(self) -> str:
        """What else the acceptance score consists of."""
        if isinstance(self._rule, ClassLearned):
            return " (beside how close the two best answers are)"
        started = isinstance(self._rule, ClassRejector) and self._rule.started
        return " (beside the probabilities that it starts from)" if started else ""

    def _contributions(self, X: Any) -> Contributions | None:
        return None if self._several else super()._contributions(X)

    @property
    def importances_(self) -> dict[str, Floats]:
        """Share of each feature in the class scores "h" and in the acceptance score "r"; "r" where one is learned.

        How far what it adds lies from its mean, on average over the training cases. Either feature of a pair gets half
        of what the pair adds; what a stacked score adds is shared out as its own functions are.
        """
        check_is_fitted(self)
        if not self._several:
            found: dict[str, Floats] = super().importances_
            return found
        h, r = self._rule.form.spreads(self.n_features_in_)
        return {name: spread / spread.sum() for name, spread in (("h", h), ("r", r)) if spread.sum() > 0}

    def shape_table(self) -> Any:
        """What every cell of every feature adds to the scores, as a data frame: a model for a database.

        One row per interval, level or missing value; an interval holds the values above `low` and not above `high`. A
        row of a pair term has a second feature, "feature_2" and so on, and holds for cases that fall into both. The
        scores of a case are the sums of `h` and of `r` over the rows that it falls into, and the row of the intercept.
        With unequal prices and a learned rejector the boundary between the classes moves with r; then, and with a
        stacked score, whose own rows have ``score=True``, `decision_function` is more than this sum. Levels that
        training did not have are looked up as missing.

        Returns
        -------
        DataFrame
            Columns "feature", "low", "high", "level", "missing", "h", "r", "share" (of the training cases), "score";
            with pair terms also "feature_2", "low_2", "high_2", "level_2" and "missing_2". With three or more classes
            there is an "h" for each, such as "h 'yes'": the softmax of their sums gives the probabilities, or what is
            learned in their place (family "coupled", where the best sum is added to that of `r`).
        """
        check_is_fitted(self)
        if not self._several:
            return super().shape_table()
        labels = [f"h {to_python(label)!r}" for label in self.classes_]
        names, rows = feature_names(self), []
        form = self._rule.form
        rows.append((INTERCEPT, None, None, None, False, *form.h0, form.r0, 1.0, False))
        for shape in form.shapes:
            rows += [(names[shape.feature], *row, False) for row in _rows(shape)]
        return as_frame(rows, ["feature", "low", "high", "level", "missing", *labels, "r", "share", "score"])


def _rows(shape: ClassShapeFunction) -> list[tuple[Any, ...]]:
    """Rows of a shape function: low, high, level, missing, h of every class, r, share."""
    edges = np.concatenate([[-np.inf], shape.cuts, [np.inf]]).tolist()
    places: list[tuple[Any, ...]] = [(low, high, None, False) for low, high in pairwise(edges)]
    if shape.levels:
        places = [(None, None, level, False) for level in shape.levels]
    places.append((None, None, None, True))
    values = zip(places, shape.table.tolist(), shape.share.tolist(), strict=True)
    return [(*place, *row, share) for place, row, share in values]
