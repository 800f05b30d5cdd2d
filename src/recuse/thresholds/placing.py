"""Where a rule puts its thresholds, and the calibration that they are set on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from ..calibration import Calibrator, calibrate
from ..class_calibration import ClassCalibrator, calibrate_classes
from ..costs import Costs
from .bands import RejectRegion
from .class_rules import ClassSample, class_region, least_cost_region
from .models import Models, as_line
from .rules import RULES, Aim, Sample, chow_band
from .scores import PROBABILITIES, GivenCases, HeldOut, score


class Placed(NamedTuple):
    """Where the rule puts the thresholds, what that costs per case in units of the cheaper error, and what it took."""

    region: RejectRegion
    objective: float
    n_fits: int
    fold_thresholds: Floats | None = None

    @property
    def threshold_spread(self) -> Floats | None:
        """Standard deviation of each threshold over the folds on which it is finite."""
        if self.fold_thresholds is None:
            return None
        # A threshold is infinite on a fold that never answers its side; the other folds still have a spread.
        finite = [column[np.isfinite(column)] for column in self.fold_thresholds.T]
        return np.array([column.std() if len(column) else np.nan for column in finite])


class Placing(NamedTuple):
    """How thresholds are placed: the parameters of the same names of `ThresholdRejectClassifier`."""

    rule: str
    calibration: str | None
    coverage: float | None
    shrinkage: float

    @property
    def learns(self) -> bool:
        """Whether the rule learns anything from the cases."""
        return RULES[self.rule].learns or self.coverage is not None or self.calibration is not None

    def place(
        self,
        cases: GivenCases,
        codes: Indices,
        models: Models,
        held_out: HeldOut | None,
        costs: Costs,
        n_classes: int,
    ) -> tuple[Models, Placed]:
        """Calibrate and place the thresholds, on cross-validated scores where anything is learned from the cases."""
        if not self.learns or held_out is None:
            region: RejectRegion = chow_band(costs) if n_classes == 2 else least_cost_region(costs, n_classes)
            scores = score(models.classifier, cases.X, models.response)
            cost = _mean_cost(region, scores, codes, cases.weights, costs, n_classes)
            return models, Placed(region, cost, _n_fits(held_out))
        codes, weights = codes[held_out.rows], cases.weights[held_out.rows]
        groups = None if cases.groups is None else cases.groups[held_out.rows]
        models = models._replace(calibrator=self._calibrate(held_out, codes, weights, groups, models, n_classes))
        scores, per_fold = models.calibrated(held_out.scores), None
        aim = Aim(costs, self.coverage, models.gives_probabilities, self.shrinkage)
        if n_classes > 2:
            region = class_region(self.rule, ClassSample(scores, codes, weights), aim)
        else:
            region, *bands = (
                RULES[self.rule].place(Sample.of(scores[rows], codes[rows] == 1, weights[rows]), aim)
                for rows in (np.arange(len(scores)), *held_out.tests)
            )
            per_fold = np.array([band.thresholds for band in bands])
        cost = _mean_cost(region, scores, codes, weights, costs, n_classes)
        return models, Placed(region, cost, _n_fits(held_out), per_fold)

    def _calibrate(
        self,
        held_out: HeldOut,
        codes: Indices,
        weights: Floats,
        groups: Indices | None,
        models: Models,
        n_classes: int,
    ) -> Calibrator | ClassCalibrator | None:
        """The map from held-out scores to probabilities, where there is to be one."""
        line = as_line(held_out.scores, models.response)
        if n_classes == 2:
            return None if self.calibration is None else calibrate(self.calibration, line, codes == 1, weights, groups)
        has_probabilities = models.response == PROBABILITIES
        how = self.calibration
        if how is None and not has_probabilities:
            how = "sigmoid"  # a class of three or more is compared with others by its probability only
        elif how is None and self.rule == "tuned":
            how = "temperature"
        if how is None:
            return None
        return calibrate_classes(how, line, codes, weights, groups, of_probabilities=has_probabilities)


def _n_fits(held_out: HeldOut | None) -> int:
    """Fits of the classifier: one on all cases, and one per fold."""
    return 1 if held_out is None else 1 + len(held_out.tests)


def _mean_cost(
    region: RejectRegion, scores: Floats, codes: Indices, weights: Floats, costs: Costs, n_classes: int
) -> float:
    prices = costs.prices(codes, region.evaluate(scores).answers(), n_classes)
    return float(np.average(prices, weights=weights))
