"""Small models of every kind that users save: each public estimator and baseline, in several configurations."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    remember_cases,
)
from recuse.baselines import (
    EmbeddedRejectSVC,
    IndependentOneClassSVC,
    KSLinearClassifier,
    RankBoostClassifier,
    TwoStepBoostingClassifier,
)
from recuse.ensemble.boosters import NativeBooster
from recuse.folds import TimeFolds
from recuse.guarantees import Promise
from recuse.metrics import get_scorer

X, y = make_classification(
    n_samples=80, n_features=3, n_informative=3, n_redundant=0, class_sep=0.7, flip_y=0.1, random_state=3
)
X = X.round(2)
LABELS = np.where(y == 1, "yes", "no")
THREE_LABELS = np.array(["high", "low", "middle"])[np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))]
UNEQUAL = Costs(fp=1, fn=3, reject=0.3)
BY_CLASS = {"high": {"low": 3, "middle": 1}, "low": {"high": 4, "middle": 2}, "middle": {"high": 1, "low": 2}}

_ROUNDS = {"n_rounds": 4, "random_state": 0}
_FIXED = {"beta": 0.01, "threshold": "calibrated", **_ROUNDS}
_RUNS = {"n_estimators": 2, "n_rounds": 3, "random_state": 0}

# One line for each kind of model: its estimator and, after the dot, what is special about it.
EXAMPLES = {
    "abstention_boosting": AbstentionBoostingClassifier(family="decoupled", costs=UNEQUAL, **_FIXED),
    "abstention_boosting.auto": AbstentionBoostingClassifier(**_ROUNDS),
    "abstention_boosting.chow": AbstentionBoostingClassifier(family="chow", **_ROUNDS),
    "abstention_boosting.coupled": AbstentionBoostingClassifier(family="coupled", surrogate="max", **_FIXED),
    "abstention_boosting.exponential": AbstentionBoostingClassifier(
        family="coupled", loss="exponential", step="paper", **_FIXED
    ),
    "abstention_boosting.corrective": AbstentionBoostingClassifier(family="coupled", corrective=True, **_FIXED),
    "abstention_boosting.interactions": AbstentionBoostingClassifier(
        family="decoupled", costs=0.35, interactions=2, max_bins=6, **_FIXED
    ),
    "abstention_boosting.stack_oof": AbstentionBoostingClassifier(family="decoupled", stack="oof", **_FIXED),
    "abstention_boosting.stack_start": AbstentionBoostingClassifier(family="decoupled", stack="start", **_FIXED),
    "abstention_boosting.edited": AbstentionBoostingClassifier(family="chow", categorical_features=[2], **_FIXED),
    "abstention_boosting.chow_of_three_classes": AbstentionBoostingClassifier(
        family="chow", categorical_features=[2], **_FIXED
    ),
    "abstention_boosting.coupled_of_three_classes": AbstentionBoostingClassifier(
        family="coupled", costs=Costs(errors=BY_CLASS, reject=0.5), **_FIXED
    ),
    "abstention_boosting.started_of_three_classes": AbstentionBoostingClassifier(
        family="decoupled", stack="start", costs=Costs(errors=BY_CLASS, reject=0.5), cv=2, **_FIXED
    ),
    "abstention_boosting.trees": AbstentionBoostingClassifier(family="decoupled", max_depth=2, **_FIXED),
    "abstention_boosting.trees_auto": AbstentionBoostingClassifier(max_depth=2, **_ROUNDS),
    "abstention_boosting.trees_chow": AbstentionBoostingClassifier(family="chow", max_depth=2, **_ROUNDS),
    "coupled_one_class": CoupledOneClassSVC(costs=UNEQUAL),
    "coupled_one_class.linear": CoupledOneClassSVC(kernel="linear", rejection="none"),
    "coupled_one_class.three_classes": CoupledOneClassSVC(),
    "double_hinge": DoubleHingeSVC(costs=0.2),
    "double_hinge.active_set": DoubleHingeSVC(solver="active_set", kernel="linear", rule="bartlett_wegkamp"),
    "double_hinge.poly": DoubleHingeSVC(kernel="poly", degree=2),
    "double_hinge.three_classes": DoubleHingeSVC(costs=0.45, C=10),
    "double_ramp": DoubleRampSVC(costs=0.2),
    "double_ramp.l2": DoubleRampSVC(penalty="l2"),
    "double_ramp.three_classes": DoubleRampSVC(costs=0.45),
    "embedded_reject": EmbeddedRejectSVC(),
    "ensemble": EnsembleRejectClassifier(["logistic", ("bayes", GaussianNB())], cv=2, costs=UNEQUAL),
    "ensemble.curves": EnsembleRejectClassifier(["curves"], cv=2),
    "ensemble.lightgbm": EnsembleRejectClassifier(
        [("lightgbm", NativeBooster("lightgbm", {"rounds": 3, "num_leaves": 3, "min_data_in_leaf": 5}))], cv=2
    ),
    "ensemble.learned": EnsembleRejectClassifier(["logistic"], cv=2, rule="learned"),
    "exactboost": ExactBoostClassifier(metric="reject_cost", costs=UNEQUAL, **_RUNS),
    "exactboost.auc": ExactBoostClassifier(metric="auc", warm_start=True, **_RUNS),
    "exactboost.bisection": ExactBoostClassifier(metric="ks", search="bisection", costs=0.3, **_RUNS),
    "exactboost.three_classes": ExactBoostClassifier(n_estimators=1, n_rounds=2, random_state=0),
    "guaranteed_reject": GuaranteedRejectClassifier(
        DoubleHingeSVC(0.45), guarantee=[Promise("error", 0.45), "cost<=0.5"], confidence=0.6, calibration_size=0.5
    ),
    "independent_one_class": IndependentOneClassSVC(),
    "ks_linear": KSLinearClassifier(),
    "rank_boost": RankBoostClassifier(n_rounds=4),
    "threshold_reject": ThresholdRejectClassifier(make_pipeline(StandardScaler(), LogisticRegression()), costs=0.3),
    "threshold_reject.beta": ThresholdRejectClassifier(LogisticRegression(), calibration="beta", cv=3),
    "threshold_reject.isotonic": ThresholdRejectClassifier(LogisticRegression(), calibration="isotonic", cv=3),
    "threshold_reject.sigmoid": ThresholdRejectClassifier(LogisticRegression(), calibration="sigmoid", cv=3),
    "threshold_reject.temperature": ThresholdRejectClassifier(LogisticRegression(), calibration="temperature", cv=3),
    "threshold_reject.remembered": ThresholdRejectClassifier(LogisticRegression(), costs=0.3),
    "threshold_reject.guarantee": ThresholdRejectClassifier(
        LogisticRegression(), guarantee=0.45, confidence=0.6, calibration_size=0.5, random_state=0
    ),
    "threshold_reject.novelty": ThresholdRejectClassifier(
        LogisticRegression(), novelty=IsolationForest(n_estimators=3, random_state=0)
    ),
    "threshold_reject.over_time": ThresholdRejectClassifier(LogisticRegression(), rule="tuned", cv=TimeFolds(3)),
    "threshold_reject.symmetric": ThresholdRejectClassifier(LogisticRegression(), rule="symmetric"),
    "threshold_reject.tuned": ThresholdRejectClassifier(
        ExactBoostClassifier(metric="auc", **_RUNS), rule="tuned", cv=3
    ),
    "threshold_reject.three_classes": ThresholdRejectClassifier(LogisticRegression(), costs=0.4),
    "threshold_reject.prices_of_three_classes": ThresholdRejectClassifier(
        LogisticRegression(), costs=Costs(errors=BY_CLASS, reject=0.5), rule="tuned", cv=3
    ),
    "threshold_reject.sigmoids_of_three_classes": ThresholdRejectClassifier(
        LogisticRegression(), costs=0.4, calibration="sigmoid", cv=3
    ),
    "two_step_boosting": TwoStepBoostingClassifier(**_ROUNDS),
    "in_a_pipeline.double_hinge": make_pipeline(StandardScaler(), DoubleHingeSVC()),
    "in_a_search.double_ramp": GridSearchCV(DoubleRampSVC(), {"mu": [0.5, 1.0]}, cv=2),
    **{
        f"in_a_search.{name}": GridSearchCV(
            make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression())),
            {"thresholdrejectclassifier__costs": [0.1]},
            scoring=get_scorer(name, **options),
            cv=2,
        )
        for name, options in {
            "neg_expected_cost": {"costs": UNEQUAL},
            "coverage": {},
            "selective_accuracy": {},
            "neg_aurc": {},
            "neg_risk_at_coverage": {"coverage": 0.8},
            "precision_at_k": {"k": 10},
        }.items()
    },
}
# Kept as files: one of every public estimator, and those that hold records which the others do not.
KEPT = [
    *(name for name in EXAMPLES if "." not in name),
    "abstention_boosting.chow",
    "abstention_boosting.chow_of_three_classes",
    "abstention_boosting.coupled_of_three_classes",
    "abstention_boosting.started_of_three_classes",
    "abstention_boosting.edited",
    "abstention_boosting.interactions",
    "abstention_boosting.stack_oof",
    "abstention_boosting.stack_start",
    "abstention_boosting.trees",
    "coupled_one_class.three_classes",
    "double_hinge.three_classes",
    "double_ramp.three_classes",
    "exactboost.three_classes",
    "ensemble.curves",
    "ensemble.learned",
    "ensemble.lightgbm",
    "exactboost.auc",
    "threshold_reject.beta",
    "threshold_reject.guarantee",
    "threshold_reject.isotonic",
    "threshold_reject.over_time",
    "threshold_reject.sigmoid",
    "threshold_reject.remembered",
    "threshold_reject.temperature",
    "threshold_reject.three_classes",
    "threshold_reject.prices_of_three_classes",
    "threshold_reject.sigmoids_of_three_classes",
    "in_a_search.selective_accuracy",
    "in_a_search.precision_at_k",
]


def fit_example(name):
    """A fitted copy of an example."""
    labels = THREE_LABELS if name.endswith("three_classes") else LABELS
    if name.endswith("remembered"):
        return remember_cases(clone(EXAMPLES[name]).fit(X, labels), X, labels)
    if not name.endswith("edited"):
        return clone(EXAMPLES[name]).fit(X, labels)
    few = np.column_stack([X[:, :2], X[:, 2].round()])  # the last column in a few levels
    model = clone(EXAMPLES[name]).fit(few, labels)
    return model.edit(int(model.shape_functions_[0].feature), "cap", X, labels, at_most=0.2, at_least=-0.2, by="Ada")
