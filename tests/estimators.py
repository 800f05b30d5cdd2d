"""The estimators of the library, in one list that every walk over them reads: a new one joins by being listed.

Walks: scikit-learn's checks, failed fits, prices in other units, values without end (`test_common.py`); batches
(`test_batches.py`); labels in any column (`test_label_columns.py`); tables and meta-estimators (`test_containers.py`,
`test_combining.py`); weights and groups (`test_routing.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    EnsembleRejectClassifier,
    ExactBoostClassifier,
    GuaranteedRejectClassifier,
    ThresholdRejectClassifier,
)
from recuse.baselines import (
    EmbeddedRejectSVC,
    IndependentOneClassSVC,
    KSLinearClassifier,
    RankBoostClassifier,
    TwoStepBoostingClassifier,
)

UNEQUAL = Costs(
    fp=1, fn=3, reject=0.2
)  # the score at which a forced answer changes is not a threshold of the other kind
QUICK = {"n_rounds": 10, "random_state": 0}
RUNS = {"n_estimators": 20, "random_state": 0}
FIXED = {"beta": 0.01, "threshold": "calibrated", **QUICK}


@dataclass(frozen=True)
class Listed:
    """An estimator, and the models of it that the walks need.

    Attributes
    ----------
    quick : classifier
        One quick model, at prices where it rejects if it can.
    never_reject : sequence of classifiers
        Nothing is rejected: every check of scikit-learn must pass.
    reject : sequence of classifiers
        Cases are rejected: the one check that wants a class for each of them fails, as it should.
    on_threshold : dict
        By name, the models whose thresholds are moved onto the score of a case.
    thresholds : callable
        Where they are: a fitted model and a case in, attributes that put a threshold on the case's score out.
    amounts : callable, optional
        Names of the attributes that a model publishes as amounts of money.
    draws : callable, optional
        Whether a model draws cases, whatever their weight: a case of weight 2 is not drawn as two cases are.
    """

    quick: Any
    never_reject: Sequence[Any]
    reject: Sequence[Any]
    on_threshold: dict[str, Any]
    thresholds: Callable[..., Any]
    amounts: Callable[[Any], tuple[str, ...]] = lambda model: ()
    draws: Callable[[Any], bool] = lambda model: False


def products(X, Z):
    """A kernel function of a user."""
    return np.exp(-0.01 * ((X**2).sum(axis=1)[:, None] - 2 * X @ Z.T + (Z**2).sum(axis=1)))


# Where each estimator keeps its thresholds: a model and a case in, attributes that put one on the case's score out.


def band_of_scores(model, case):
    """Kernel machines: either threshold, and the score at which a forced answer changes."""
    f = float(model._score(case)[0])
    low, high = model.thresholds_
    yield {"thresholds_": (f, max(high, f) + 0.1)}
    yield {"thresholds_": (min(low, f) - 0.1, f)}
    if hasattr(model, "break_even_"):
        yield {"break_even_": f, "thresholds_": (f - 1.0, f + 1.0)}


def edges_of_regions(model, case):
    """Machines with a region per class: the edge, and where a score begins to count as on it."""
    scores = model._scores(case)[0]
    for width in (0.0, 1e-9 * np.abs(scores).max(), -1e-9 * np.abs(scores).max()):
        yield {"intercept_": -(scores + width)}


def levels_of_pairs(model, case):
    pair = model._pair
    h, r = pair.evaluate(np.asarray(case))
    if hasattr(pair, "level"):
        yield {"_pair": replace(pair, level=pair.level + float(r[0]))}
        yield {"_pair": replace(pair, boundary=pair.boundary + float(h[0]))}
    elif hasattr(pair, "learned"):
        yield {"_pair": replace(pair, learned=replace(pair.learned, threshold=pair.threshold + float(r[0])))}
    else:
        yield {"_pair": replace(pair, threshold=pair.threshold + float(r[0]))}


def thresholds_of_ranking(model, case):
    h = float(model.decision_function(case)[0])
    score = model._sign * h + model.threshold_
    yield {"thresholds_": (score, score + 0.1)}
    yield {"thresholds_": (score - 0.1, score)}


def confidence_of_two_steps(model, case):
    h = float(model.decision_function(case)[0]) + model._boundary
    yield {"threshold_": abs(h)}
    yield {"_boundary": h}


def bands_around_classifiers(model, case):
    score = float(model._evaluate(case).detail[0])
    region = model._region
    yield {"_region": replace(region, upper=score, centre=score - 0.1, lower=score - 0.2)}
    yield {"_region": replace(region, lower=score, centre=score + 0.1, upper=score + 0.2)}
    yield {"_region": replace(region, centre=score, lower=score - 0.1, upper=score + 0.1)}


def bands_of_ensembles(model, case):
    p, band = float(model.predict_proba(case)[0, 1]), model._band
    yield {"_band": replace(band, upper=p, centre=p - 0.1, lower=p - 0.2)}
    yield {"_band": replace(band, lower=p, centre=p + 0.1, upper=p + 0.2)}
    yield {"_band": replace(band, centre=p, lower=p - 0.1, upper=p + 0.1)}


def certified_thresholds(model, case):
    yield {"threshold_": max(0.0, float(model.estimator_.score_samples(case)[0]))}


def threshold_of_a_ranker(model, case):
    yield {"threshold_": model.threshold_ + float(model.decision_function(case)[0])}


LISTED = [
    Listed(
        AbstentionBoostingClassifier(family="coupled", beta=0.01, threshold="calibrated", n_rounds=10),
        never_reject=[
            AbstentionBoostingClassifier(on_reject="never", **QUICK),  # of three classes some are rejected at any price
            AbstentionBoostingClassifier(family="coupled", on_reject="never", **FIXED),
            AbstentionBoostingClassifier(family="decoupled", costs=0.4, **FIXED),
            AbstentionBoostingClassifier(max_depth=2, costs=0.4999, **QUICK),
            AbstentionBoostingClassifier(family="chow", on_reject="never", **QUICK),
            AbstentionBoostingClassifier(bags=1, on_reject="never", **QUICK),
            AbstentionBoostingClassifier(bags=1, family="chow", on_reject="never", **QUICK),
        ],
        draws=lambda model: model._n_bags() != 1,
        reject=[AbstentionBoostingClassifier(family="coupled", costs=0.2, **FIXED)],
        on_threshold={
            f"abstention, {name}": AbstentionBoostingClassifier(costs=UNEQUAL, n_rounds=30, **options)
            for name, options in {
                "chow": {"family": "chow"},
                "coupled": {"family": "coupled", "beta": 0.01},
                "stacked": {"family": "decoupled", "stack": "oof", "beta": 0.01},
                "started": {"family": "decoupled", "stack": "start", "beta": 0.01},
                "trees": {"family": "decoupled", "max_depth": 2},
            }.items()
        },
        thresholds=levels_of_pairs,
        amounts=lambda model: ("held_out_costs_",),
    ),
    Listed(
        CoupledOneClassSVC(),
        never_reject=[CoupledOneClassSVC(rejection="none")],
        reject=[CoupledOneClassSVC()],
        on_threshold={
            "coupled": CoupledOneClassSVC(),
            "coupled, ambiguity": CoupledOneClassSVC(rejection="ambiguity"),
            "coupled, linear": CoupledOneClassSVC(kernel="linear"),
        },
        thresholds=edges_of_regions,
    ),
    Listed(
        DoubleHingeSVC(),
        never_reject=[
            # With three classes this price rejects.
            DoubleHingeSVC(costs=0.4999, on_reject="never"),
            DoubleHingeSVC(costs=0.4999, solver="active_set", on_reject="never"),
            DoubleHingeSVC(costs=0.4999, kernel="linear", on_reject="never"),
        ],
        reject=[DoubleHingeSVC(costs=0.2, C=10)],
        on_threshold={
            "double hinge": DoubleHingeSVC(UNEQUAL),
            "double hinge, poly": DoubleHingeSVC(UNEQUAL, kernel="poly", coef0=1.0),
            "double hinge, linear": DoubleHingeSVC(UNEQUAL, kernel="linear"),
            "double hinge, function": DoubleHingeSVC(UNEQUAL, kernel=products),
            "double hinge, large C": DoubleHingeSVC(UNEQUAL, C=1000.0),
        },
        thresholds=band_of_scores,
    ),
    Listed(
        DoubleRampSVC(),
        never_reject=[
            DoubleRampSVC(on_reject="never"),
            DoubleRampSVC(costs=0.4999, kernel="linear", on_reject="never"),
            DoubleRampSVC(penalty="l2", on_reject="never"),
        ],
        reject=[DoubleRampSVC(costs=0.2)],
        on_threshold={
            "double ramp": DoubleRampSVC(),
            "double ramp, linear": DoubleRampSVC(kernel="linear"),
            "double ramp, sigmoid": DoubleRampSVC(kernel="sigmoid", gamma=0.001),
        },
        thresholds=band_of_scores,
        amounts=lambda model: ("objective_", "dual_gap_", "history_"),
    ),
    Listed(
        EnsembleRejectClassifier(["logistic", "extra-trees"], cv=2),
        never_reject=[],
        reject=[EnsembleRejectClassifier(["logistic", "extra-trees"], costs=0.2, cv=2)],
        on_threshold={
            "ensemble": EnsembleRejectClassifier(["logistic", "extra-trees", "histogram-boosting"], costs=UNEQUAL, cv=2)
        },
        thresholds=bands_of_ensembles,
        amounts=lambda model: ("held_out_costs_",),
        draws=lambda model: True,  # for its folds and trees
    ),
    Listed(
        ExactBoostClassifier(metric="reject_cost", costs=0.2, n_estimators=5, n_rounds=10, random_state=0),
        never_reject=[
            ExactBoostClassifier(metric="auc", subsample=1.0, max_features=1.0, **RUNS),
            ExactBoostClassifier(metric="ks", subsample=1.0, **RUNS),
            ExactBoostClassifier(metric="precision_at_k", subsample=1.0, **RUNS),
            ExactBoostClassifier(**RUNS),
            ExactBoostClassifier(metric="ks", costs=0.3, **RUNS),
            ExactBoostClassifier(metric="reject_cost", on_reject="never", **RUNS),
        ],
        reject=[ExactBoostClassifier(metric="reject_cost", costs=0.2, **RUNS)],
        on_threshold={"exact": ExactBoostClassifier(metric="reject_cost", n_estimators=20, random_state=0)},
        thresholds=thresholds_of_ranking,
        amounts=lambda model: ("objective_",) if model.metric == "reject_cost" else (),
        draws=lambda model: model.subsample < 1,
    ),
    Listed(
        GuaranteedRejectClassifier(ThresholdRejectClassifier(LogisticRegression()), guarantee=0.7, confidence=0.6),
        never_reject=[],
        reject=[
            GuaranteedRejectClassifier(ThresholdRejectClassifier(LogisticRegression()), guarantee=0.6, confidence=0.6),
            GuaranteedRejectClassifier(DoubleHingeSVC(costs=0.4), guarantee="cost<=0.6", confidence=0.6),
        ],
        on_threshold={
            "guaranteed": GuaranteedRejectClassifier(
                ThresholdRejectClassifier(LogisticRegression(), costs=UNEQUAL), guarantee="error<=0.5"
            ),
            "guaranteed kernel machine": GuaranteedRejectClassifier(DoubleHingeSVC(UNEQUAL), guarantee="error<=0.5"),
        },
        thresholds=certified_thresholds,
        draws=lambda model: True,  # the cases that test
    ),
    Listed(
        ThresholdRejectClassifier(LogisticRegression()),
        never_reject=[
            ThresholdRejectClassifier(LogisticRegression(), on_reject="never"),
            ThresholdRejectClassifier(LinearSVC(), costs=0.4999, rule="tuned", coverage=1.0),
            # At any price a learned threshold rejects a narrow band whose held-out cases are all wrong; full coverage
            # does not.
            ThresholdRejectClassifier(LinearSVC(), costs=0.4999, rule="symmetric", coverage=1.0),
        ],
        reject=[
            ThresholdRejectClassifier(LogisticRegression(), costs=0.2),
            ThresholdRejectClassifier(LinearSVC(), costs=0.2, rule="tuned"),
        ],
        on_threshold={
            "threshold, chow": ThresholdRejectClassifier(LogisticRegression(), costs=UNEQUAL),
            "threshold, score": ThresholdRejectClassifier(LinearSVC(), costs=0.3, rule="tuned"),
            "threshold, forest": ThresholdRejectClassifier(RandomForestClassifier(10, random_state=0)),
            "threshold, novelty": ThresholdRejectClassifier(
                LogisticRegression(), novelty=IsolationForest(random_state=0)
            ),
        },
        thresholds=bands_around_classifiers,
        amounts=lambda model: ("objective_",),
    ),
    Listed(
        EmbeddedRejectSVC(),
        never_reject=[EmbeddedRejectSVC(on_reject="never")],
        reject=[],
        on_threshold={"embedded": EmbeddedRejectSVC()},
        thresholds=band_of_scores,
    ),
    Listed(
        IndependentOneClassSVC(),
        never_reject=[IndependentOneClassSVC(rejection="none", tol=1e-10)],
        reject=[IndependentOneClassSVC(tol=1e-10)],
        on_threshold={"independent": IndependentOneClassSVC()},
        thresholds=edges_of_regions,
    ),
    Listed(
        KSLinearClassifier(max_iter=3),
        never_reject=[KSLinearClassifier()],
        reject=[],
        on_threshold={"linear ranker": KSLinearClassifier(max_iter=2)},
        thresholds=threshold_of_a_ranker,
    ),
    Listed(
        RankBoostClassifier(n_rounds=10),
        never_reject=[RankBoostClassifier(n_rounds=20)],
        reject=[],
        on_threshold={"boosted ranker": RankBoostClassifier(n_rounds=20)},
        thresholds=threshold_of_a_ranker,
    ),
    Listed(
        TwoStepBoostingClassifier(n_rounds=10),
        never_reject=[TwoStepBoostingClassifier(costs=0.4999, **QUICK)],
        reject=[],
        on_threshold={"two steps": TwoStepBoostingClassifier(costs=UNEQUAL, n_rounds=30)},
        thresholds=confidence_of_two_steps,
        amounts=lambda model: ("objective_",),
    ),
]

# What the walks read.
ESTIMATORS = [listed.quick for listed in LISTED]
NEVER_REJECT = [model for listed in LISTED for model in listed.never_reject]
REJECT = [model for listed in LISTED for model in listed.reject]
CHECKED = [*NEVER_REJECT, *REJECT]
DRAW = [model for listed in LISTED for model in (*listed.never_reject, *listed.reject) if listed.draws(model)]
PRICED = [model for model in CHECKED if "costs" in model.get_params()]
ON_THRESHOLD = {name: (model, listed.thresholds) for listed in LISTED for name, model in listed.on_threshold.items()}
AMOUNTS = {type(listed.quick): listed.amounts for listed in LISTED}


def each(models):
    """Run a test with each of the models."""
    return pytest.mark.parametrize("model", models, ids=lambda model: type(model).__name__)


every_estimator, every_checked, every_priced = each(ESTIMATORS), each(CHECKED), each(PRICED)
