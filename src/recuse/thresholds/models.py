"""What a fit with thresholds fits (classifier, outlier detector, calibration), and how these score cases."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..calibration import Calibrator, log_odds
from ..class_calibration import ClassCalibrator
from ..decisions import Evaluation
from ..rounding import SAME, near_threshold
from .bands import RejectRegion
from .scores import PROBABILITIES, is_rough, require_scores, rescored, score

_OUTLIER = (0.0,)  # by the convention of all detectors, a negative score marks an outlier


class Models(NamedTuple):
    """The fitted classifier, the method that gives its score, the fitted outlier detector, and the calibration.

    Where scores of the one or the other are rough, `is_rough`, cases near a threshold are scored again by themselves.
    """

    classifier: Any
    response: str
    novelty: Any = None
    calibrator: Calibrator | ClassCalibrator | None = None
    rough_scores: bool = False
    rough_novelty: bool = False

    @property
    def gives_probabilities(self) -> bool:
        """Whether the thresholds see probabilities."""
        return self.calibrator is not None or self.response == PROBABILITIES

    def calibrated(self, scores: Floats) -> Floats:
        """Scores of the classifier as the thresholds see them."""
        if self.calibrator is None:
            return scores
        return self.calibrator(as_line(scores, self.response))

    def evaluate(self, X: Any, region: RejectRegion) -> Evaluation:
        """Class and acceptance scores of new cases, with novelties marked."""
        scores = self.cut_scores(X)
        if self.rough_scores:
            scores = rescored(self.cut_scores, X, scores, region.near(scores))
        evaluation = region.evaluate(scores)
        if self.novelty is None:
            return evaluation
        inlier_score = self.inlier_scores(X)
        if self.rough_novelty:
            inlier_score = rescored(self.inlier_scores, X, inlier_score, near_threshold(inlier_score, _OUTLIER))
        novel = inlier_score < -SAME  # 0 up to rounding is not negative
        r = np.where(novel, np.minimum(evaluation.r, inlier_score), evaluation.r)
        return Evaluation(evaluation.h, r, novel, detail=evaluation.detail)

    def cut_scores(self, X: Any) -> Floats:
        """Scores of the classifier, calibrated: what the thresholds cut."""
        return self.calibrated(score(self.classifier, X, self.response))

    def inlier_scores(self, X: Any) -> Floats:
        """Scores of the outlier detector."""
        scores = np.asarray(self.novelty.decision_function(X), dtype=np.float64)
        require_scores(scores, f"{type(self.novelty).__name__}.decision_function")
        return scores

    def measured(self, X: Any, region: RejectRegion) -> Models:
        """The same models, after a look at how rough their scores of these cases are."""
        return self._replace(
            rough_scores=is_rough(self.cut_scores, X, region.cuts),
            rough_novelty=self.novelty is not None and is_rough(self.inlier_scores, X, _OUTLIER),
        )


def as_line(scores: Floats, response: str) -> Floats:
    """Scores for a calibration, which takes any number: the log-odds of probabilities."""
    return log_odds(scores) if response == PROBABILITIES else scores
