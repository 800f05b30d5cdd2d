"""What the efforts are worth, what single members add to the best one, and what second settings would add.

Sets, one split of each, prices and units as in `quality`. Every member of effort "best" is fitted once, and for each
kind with a list in `portfolio` the next setting of that list, found without the set at hand; the blends differ only in
who takes part. Costs are against the blend of effort "best" under Chow's rule, and goals are missing on purpose: this
is how members were looked at. Not independent of `quality`: the same sets.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from recuse.ensemble.roster import BEST, EFFORTS, ROSTER, choose_members

from .contest import PRICES, split
from .open_ensemble import OpenEnsemble
from .portfolio import next_without, with_settings
from .quality import SETS, TRAIN
from .relative_costs import Judged, in_constants, summarise
from .runner import Row

SLOW = ("madelon",)
SECOND = ("extra-trees", "forest", "lightgbm", "catboost", "xgboost", "network", "double-hinge")


def run(quick=False):
    names = ("haberman", "sonar") if quick else [name for name in SETS if name not in SLOW]
    sets = [_judge_set(name) for name in names]
    size = f"{len(sets)} sets"
    for what in sets[0].paid:
        if what != BEST:
            found = summarise(sets, what, BEST)
            yield Row(f"{what}: cost (standard error {found.error:.4f})", size, BEST, found.ratio, 1.0)


def _judge_set(name):
    """What each blend pays on the test cases of a set."""
    X, y, train, test = split(name, 0, TRAIN)
    members = choose_members(BEST, len(train))
    second = [_second(family, name) for family in SECOND]
    model = OpenEnsemble(members=members + second, rule="chow", random_state=0).fit(X[train], y[train])
    odds, held_out = model.member_log_odds(X[test]), model.held_out_log_odds_
    names, outcomes = np.array(model.names_), model.held_out_.outcomes

    def pay(takes_part):
        blend = model._combine(held_out[:, takes_part], outcomes)
        return in_constants(expit(blend.log_odds(odds[:, takes_part])), y[test], y.mean(), PRICES)

    of_effort = {effort: [member.name for member in choose_members(effort, len(train))] for effort in EFFORTS}
    paid = {effort: pay(np.isin(names, those)) for effort, those in of_effort.items()}
    best = np.isin(names, of_effort[BEST])
    paid |= {f"best without {each}": pay(best & (names != each)) for each in names[best]}
    paid |= {f"best with a second {family}": pay(best | (names == f"second {family}")) for family in SECOND}
    paid["best with all second settings"] = pay(np.ones(len(names), dtype=bool))
    return Judged(name, f"{len(train):,} x {X.shape[1]}", test, paid)


def _second(family, name):
    member = next(each for each in ROSTER if each.name == family)
    title = f"second {family}"
    return replace(with_settings(member, next_without(family, name)), name=title, title=title)
