"""What a method answered, put together from its folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..costs import Costs, answer_columns
from .constants import SEND_ALL, Constant
from .folds import FoldResult

_NAMED_FOLDS = 2  # of more, only how many they are
_CONSTANT_REASON = "every case gets the same answer: no method was chosen against {!r}"


@dataclass(frozen=True, eq=False)
class Answers:
    """Out-of-fold answers of one method: arrays with a row per repetition and a column per case.

    Attributes
    ----------
    forced, kind, fold : ndarray of int of shape (repeats, n)
        Class without the reject option (1 positive; of three or more its position), position in `KINDS`, fold.
    h, r, score : ndarray of float of shape (repeats, n)
        Class score, acceptance score, and the probability of the positive class where there is one, else h. With three
        classes or more `score` has a last axis for the classes.
    reason : list of str
        One sentence per case, of the first repetition.
    folds : list of FoldResult
        What the answers were put together from.
    """

    forced: NDArray[np.int8]
    kind: NDArray[np.int8]
    fold: NDArray[np.int16]
    h: Floats
    r: Floats
    score: Floats
    reason: list[str]
    folds: list[FoldResult]

    @classmethod
    def of(cls, folds: list[FoldResult], n_cases: int, n_folds: int) -> Answers:
        """Put the folds together."""
        repeats = len(folds) // n_folds
        shape = (repeats, n_cases)
        columns: dict[str, Any] = {
            name: np.empty(shape + first.shape[1:], dtype=first.dtype)
            for name in ("forced", "kind", "h", "r", "score")
            for first in [getattr(folds[0], name)]
        }
        fold_number = np.empty(shape, dtype=np.int16)
        reason = [""] * n_cases
        for number, result in enumerate(folds):
            repeat, fold = divmod(number, n_folds)
            fold_number[repeat, result.test] = fold
            for name, column in columns.items():
                column[repeat, result.test] = getattr(result, name)
            if repeat == 0:
                for position, text in zip(result.test.tolist(), result.reason, strict=True):
                    reason[position] = text
        return cls(**columns, fold=fold_number, reason=reason, folds=folds)

    @classmethod
    def constant(cls, constant: Constant, like: Answers, share: float, costs: Costs, *, second: bool) -> Answers:
        """The same answer to every case, in the folds of the answers of a method; `share` of the cases are positive.

        `second` says whether the positive class is the second of the sorted ones, towards which h points.
        """
        shape = like.forced.shape
        rejects = constant.name == SEND_ALL
        forced = int(share > costs.break_even) if rejects else constant.column
        return cls(
            forced=np.full(shape, forced, dtype=np.int8),
            kind=np.full(shape, int(rejects), dtype=np.int8),
            fold=like.fold,
            h=np.full(shape, 1.0 if bool(forced) == second else -1.0),
            r=np.full(shape, -1.0 if rejects else 1.0),
            score=np.full(shape, share),
            reason=[_CONSTANT_REASON.format(constant.title)] * shape[1],
            folds=[],
        )

    @classmethod
    def constant_class(cls, constant: Constant, like: Answers, shares: Floats, costs: Costs) -> Answers:
        """The same of three classes or more, with the shares of these."""
        shape, n_classes = like.forced.shape, len(shares)
        rejects = constant.name == SEND_ALL
        cheapest = int((shares @ costs.matrix(n_classes)[:-1, :-2]).argmin())
        forced = cheapest if rejects else constant.column
        return cls(
            forced=np.full(shape, forced, dtype=np.int8),
            kind=np.full(shape, int(rejects), dtype=np.int8),
            fold=like.fold,
            h=np.full(shape, 1.0),
            r=np.full(shape, -1.0 if rejects else 1.0),
            score=np.broadcast_to(shares, (*shape, n_classes)).copy(),
            reason=[_CONSTANT_REASON.format(constant.title)] * shape[1],
            folds=[],
        )

    @property
    def accepted(self) -> Flags:
        """Which cases the method answers itself."""
        return self.kind == 0

    @property
    def columns(self) -> NDArray[Any]:
        """Column of the price matrix of each answer."""
        n_classes = 2 if self.score.ndim == 2 else self.score.shape[2]
        return answer_columns(self.forced, self.kind, n_classes)

    @property
    def warnings(self) -> dict[str, str]:
        """Distinct warnings raised in the folds, and in words in which of them."""
        texts = sorted({text for fold in self.folds for text in fold.warnings})
        return {text: self._places([n for n, fold in enumerate(self.folds) if text in fold.warnings]) for text in texts}

    def _places(self, numbers: list[int]) -> str:
        """Some of the folds of all repetitions, in words."""
        n, repeats = len(self.folds), len(self.kind)
        if len(numbers) == n:
            return f"in all {n} folds"
        if len(numbers) > _NAMED_FOLDS:
            return f"in {len(numbers)} of {n} folds"
        places = [divmod(number, n // repeats) for number in numbers]
        named = [f"fold {fold + 1}" + f" of repetition {repeat + 1}" * (repeats > 1) for repeat, fold in places]
        return f"in {' and '.join(named)}"
