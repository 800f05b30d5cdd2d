"""Chow's rule, tuned thresholds or a rejector learned on top of the blend: what each costs, and which "auto" takes.

Sets, splits (one of each), prices and units as in `quality`; members of effort "quick", and of logistic regression
alone, which leaves more for a rejector to learn. The rules are set on the training part as `fit` at effort "best" does,
and judged on the test part. Against Chow's rule on the same blend. "other rule taken" is the share of sets and price
lists where "auto" does not keep Chow's.
"""

import numpy as np
from scipy.special import expit

from recuse.ensemble.features import CODES, Table
from recuse.ensemble.held_out import judge_blend
from recuse.ensemble.judging import AUTO, CHOW, LEARNED, TUNED, judge

from .contest import PRICES, split
from .open_ensemble import OpenEnsemble, prices_paid
from .quality import SETS, TRAIN
from .relative_costs import Judged, constant_cost, summarise
from .runner import Row

MEMBERS = {"quick": None, "logistic regression alone": ["logistic"]}
SLOW = ("madelon",)


def run(quick=False):
    names = ("haberman", "sonar") if quick else [name for name in SETS if name not in SLOW]
    for what, members in MEMBERS.items():
        found = [_judge_set(name, members) for name in names]
        sets, kept = [judged for judged, _ in found], np.mean([share for _, share in found])
        size = f"{len(sets)} sets, {what}"
        for rule in (TUNED, LEARNED, AUTO):
            compared = summarise(sets, rule, CHOW)
            goal = 1.0 if rule == AUTO else None
            yield Row(f"{rule}: cost (standard error {compared.error:.4f})", size, "chow", compared.ratio, 1.0, goal)
            ratio, error = compared.worst.ratio(rule, CHOW)
            worst = f"{rule}: worst set, {compared.worst.name}, {100 * (ratio - 1):+.1f} ± {200 * error:.1f} %"
            yield Row(worst, compared.worst.size, "chow", ratio - 2 * error, 1.0, 1.03 if rule == AUTO else None)
        yield Row("other rule taken", size, "all", 1 - kept, 1.0)


def _judge_set(name, members):
    """What each rule pays on the test cases of a set, and the share of the price lists where "auto" is Chow's."""
    X, y, train, test = split(name, 0, TRAIN)
    model = OpenEnsemble(members=members, effort="quick", rule=CHOW, random_state=0).fit(X[train], y[train])
    p = judge_blend(model.held_out_, model._combine).blend
    seen, new = (model._views.view(CODES, Table.of(cases, model._categorical_columns)) for cases in (X[train], X[test]))
    odds = model.member_log_odds(X[test]) @ np.array([model.weights_[each] for each in model.names_]) + model._intercept
    paid, kept = {rule: [] for rule in (CHOW, TUNED, LEARNED, AUTO)}, []
    for costs in PRICES:
        unit = constant_cost(costs, y.mean())
        for rule, prices in paid.items():
            found = judge(p, model.held_out_, costs, rule, seen.take(model.held_out_.rows))
            if found.rejector is None:
                answers = prices_paid(expit(odds), y[test], costs, found.band)
            else:
                h, r = found.rejector.evaluate(np.column_stack([new.matrix, odds]))
                answers = costs.prices(y[test], np.where(r > 0, h > 0, 2).astype(np.intp))
            prices.append(answers / unit)
            if rule == AUTO:
                kept.append(found.rule == CHOW)
    size = f"{len(train):,} x {X.shape[1]}"
    return Judged(name, size, test, {rule: np.mean(prices, axis=0) for rule, prices in paid.items()}), np.mean(kept)
