"""An ensemble that shows its parts: every fitted member, also those that do not count, and the rule at any prices."""

import numpy as np
from scipy.special import expit

from recuse.ensemble import EnsembleRejectClassifier, Member
from recuse.ensemble.estimator import _judge
from recuse.ensemble.features import Table
from recuse.thresholds.rules import chow_band


class OpenEnsemble(EnsembleRejectClassifier):
    """What is blended does not depend on the prices: one fit serves every price list.

    Attributes
    ----------
    bagged_, folds_, outcomes_
        What the members are and say, where they were fitted, and on which outcomes.
    """

    def _members(self):
        """Members as they are, where they are given so: with other settings than those of the roster."""
        ready = self.members is not None and all(isinstance(each, Member) for each in self.members)
        return list(self.members) if ready else super()._members()

    def _fit_members(self, members, table, views, outcomes, folds, seed):
        bagged, left_out = super()._fit_members(members, table, views, outcomes, folds, seed)
        self.bagged_, self.folds_, self.outcomes_ = bagged, folds, outcomes
        return bagged, left_out

    @property
    def names_(self):
        """Names of the members, in the order of the columns below."""
        return [part.member.name for part in self.bagged_]

    @property
    def held_out_(self):
        """Log-odds of the training cases: a column per member."""
        return np.column_stack([part.held_out for part in self.bagged_])

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
        members = self.held_out_
        blended = np.empty(len(members))
        for _, test in self.folds_:
            others = np.setdiff1d(np.arange(len(members)), test)
            blended[test] = self._combine(members[others], self.outcomes_.take(others)).log_odds(members[test])
        tests = [test for _, test in self.folds_]
        return [_judge(expit(blended), self.outcomes_, tests, costs, self.rule).band for costs in prices]


def mean_price(p, codes, costs, band=None):
    """What answers at these probabilities cost per case: by Chow's rule, or between other thresholds."""
    return float(prices_paid(p, codes, costs, band).mean())


def prices_paid(p, codes, costs, band=None):
    """The price of each case."""
    return costs.prices(codes, (band or chow_band(costs)).evaluate(p).answers())
