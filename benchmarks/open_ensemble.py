"""An ensemble that shows its parts: every fitted member, also those that do not count, and the rule at any prices."""

import numpy as np
from scipy.special import expit

from recuse.ensemble import EnsembleRejectClassifier
from recuse.ensemble.features import Table
from recuse.ensemble.held_out import judge_blend
from recuse.ensemble.judging import judge
from recuse.thresholds.rules import chow_band


class OpenEnsemble(EnsembleRejectClassifier):
    """What is blended does not depend on the prices: one fit serves every price list.

    Attributes
    ----------
    bagged_ : list of Bagged
        Every member that was fitted.
    held_out_ : UnseenCases
        How they score the training cases; a column per member.
    """

    def _hold_out(self, bagged, cases):
        self.bagged_, self.held_out_ = bagged, super()._hold_out(bagged, cases)
        return self.held_out_

    @property
    def held_out_log_odds_(self):
        """Log-odds of the held-out cases: a column per member."""
        scores = self.held_out_.scores
        return np.column_stack([part.member.calibrated(z) for part, z in zip(self.bagged_, scores.T, strict=True)])

    @property
    def names_(self):
        """Names of the members, in the order of the columns."""
        return [part.member.name for part in self.bagged_]

    def member_log_odds(self, X):
        """Log-odds of new cases: a column per member."""
        table = Table.of(X, self._categorical_columns)
        views = {kind: self._views.view(kind, table).matrix for kind in {part.member.view for part in self.bagged_}}
        return np.column_stack([part.member.log_odds(views[part.member.view]) for part in self.bagged_])

    def blended(self, members):
        """Probabilities of the blend, from the log-odds of the members."""
        weights = np.array([self.weights_[name] for name in self.names_])
        return expit(members @ weights + self._intercept)

    def bands(self, prices):
        """Thresholds at each of some price lists, chosen on held-out cases as `fit` does."""
        p = judge_blend(self.held_out_, self._combine).blend
        return [judge(p, self.held_out_, costs, self.rule).band for costs in prices]


def mean_price(p, codes, costs, band=None):
    """What answers at these probabilities cost per case: by Chow's rule, or between other thresholds."""
    return float(prices_paid(p, codes, costs, band).mean())


def prices_paid(p, codes, costs, band=None):
    """The price of each case."""
    return costs.prices(codes, (band or chow_band(costs)).evaluate(p).answers())
