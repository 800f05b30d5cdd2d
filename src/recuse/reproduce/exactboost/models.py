"""The models compared: estimators, ensemblers and the base models they combine, and methods that reject."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...baselines import KSLinearClassifier, RankBoostClassifier
from ...boosting import AbstentionBoostingClassifier, ExactBoostClassifier
from ...thresholds import ThresholdRejectClassifier

OURS = {"auc": "ExactBoost, AUC", "ks": "ExactBoost, KS"}
TEN_RUNS, NO_MARGIN = "ExactBoost, AUC, E = 10", "ExactBoost, AUC, margin 0"
MARGIN = 0.05  # the poster's
TRAINED_ON_COST = "trained on the reject cost"


def exactboost(metric: str, quick: bool, **options: Any) -> ExactBoostClassifier:
    """ExactBoost as in the poster, or smaller in a quick run."""
    size: dict[str, Any] = {"n_estimators": 4, "n_rounds": 10} if quick else {}
    return ExactBoostClassifier(metric=metric, random_state=0, **({"margin": MARGIN} | size | options))


def estimators(quick: bool) -> dict[str, Any]:
    """Models fitted to the features."""
    ours = {title: exactboost(metric, quick) for metric, title in OURS.items()}
    if not quick:
        ours |= {
            TEN_RUNS: exactboost("auc", quick, n_estimators=10),
            NO_MARGIN: exactboost("auc", quick, margin=0.0),
        }
    rivals = {"RankBoost": RankBoostClassifier(), "DMKS": _imputed(KSLinearClassifier())}
    return ours | _common_models() | rivals


def ensemblers(quick: bool) -> dict[str, Any]:
    """Models fitted to the predictions of the base models."""
    name, boosting = _gradient_boosting()
    ours = {title: exactboost(metric, quick) for metric, title in OURS.items()}
    others = {
        "AdaBoost": AdaBoostClassifier(random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
        name: boosting,
        "RankBoost": RankBoostClassifier(),
        "DMKS": KSLinearClassifier(),
    }
    return ours | others


def base_models(early_stopping: bool) -> dict[str, Any]:
    """Models whose predictions the ensemblers combine."""
    network = MLPClassifier((50, 50, 50, 50), random_state=0, early_stopping=early_stopping)
    return _common_models() | {"neural network": _imputed(network, scaled=True)}


def rejecting_models(c: float, quick: bool) -> dict[str, Any]:
    """Models that reject at the price c; the first is trained on the cost itself."""
    size = {} if quick else {"n_estimators": 100}
    scorer = exactboost("auc", quick, **size)
    logistic = _imputed(LogisticRegression(max_iter=1000), scaled=True)
    calibrated = CalibratedClassifierCV(scorer, cv=3)
    return {
        TRAINED_ON_COST: exactboost("reject_cost", quick, costs=c, **size),
        "trained on AUC, tuned thresholds": ThresholdRejectClassifier(scorer, costs=c, rule="tuned", shrinkage=0, cv=3),
        "trained on AUC, calibrated, Chow's rule": ThresholdRejectClassifier(calibrated, costs=c),
        "logistic regression, Chow's rule": ThresholdRejectClassifier(logistic, costs=c),
        "boosted stumps, Chow's rule": AbstentionBoostingClassifier(costs=c, family="chow", random_state=0),
    }


def _common_models() -> dict[str, Any]:
    """Models that are compared with ExactBoost and that its ensembles combine."""
    name, boosting = _gradient_boosting()
    return {
        "AdaBoost": _imputed(AdaBoostClassifier(random_state=0)),
        "nearest neighbours": _imputed(KNeighborsClassifier()),
        "logistic regression": _imputed(LogisticRegression(max_iter=1000), scaled=True),
        "random forest": _imputed(RandomForestClassifier(random_state=0)),
        name: boosting,
    }


def _imputed(model: Any, *, scaled: bool = False) -> Any:
    """A model with missing values replaced by medians, and features standardised if asked."""
    return make_pipeline(SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else []), model)


def _gradient_boosting() -> tuple[str, Any]:
    """XGBoost where it is installed, else scikit-learn's own."""
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return "gradient boosting (scikit-learn)", HistGradientBoostingClassifier(random_state=0)
    return "XGBoost", XGBClassifier(random_state=0, n_jobs=1)
