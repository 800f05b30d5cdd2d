"""Small models of every kind that can be exported, each with the cases it was fitted on."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

import recuse
from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    ExactBoostClassifier,
    GuaranteedRejectClassifier,
    ThresholdRejectClassifier,
)
from recuse.guarantees import NoGuaranteeWarning

COSTS = Costs(fp=1, fn=4, reject=0.5)


@cache
def patients(n=260):
    """A table with numbers, categories, dates, yes and no, and missing values; and its outcomes."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, n),
            "town": random.choice(["Ulm", "Bonn", "Köln", None], n),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900 * 24, n), "h"),
            "smokes": random.random(n) < 0.5,
            "income": random.lognormal(8, 1, n),
        }
    )
    score = frame["age"] + 5 * (frame["town"] == "Ulm") + 0.002 * frame["income"] + random.normal(0, 8, n)
    frame["y"] = np.where(score > 48, "ill", "well")
    frame.loc[::17, "age"] = np.nan
    return frame


def _numbers():
    frame = patients()
    return frame[["age", "income"]].fillna(30.0), frame["y"].to_numpy()


def fitted_on_table(method, **options):
    """A model of `recuse.fit`."""
    return recuse.fit(patients(), "y", COSTS, method=method, **{"positive": "well", **options})


def stumps(columns=("age", "income"), **options):
    """Boosting with abstention on some columns."""
    frame = patients()
    return AbstentionBoostingClassifier(n_rounds=20, **{"costs": COSTS, **options}).fit(
        frame[list(columns)], frame["y"].to_numpy()
    )


def rule(*steps, **options):
    """Thresholds on a classifier of two columns, given as an array."""
    X, y = _numbers()
    *before, last = steps
    classifier = ThresholdRejectClassifier(last, **{"costs": COSTS, "cv": 3, **options})
    return make_pipeline(*before, classifier).fit(X.to_numpy(), y)


def encoded():
    """Scalers and encoders of scikit-learn, and a curve as calibration."""
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(), MinMaxScaler()), ["age", "income"]),
        (OneHotEncoder(handle_unknown="ignore"), ["town"]),
    )
    rejecting = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, cv=3, rule="tuned", calibration="isotonic")
    frame = patients()
    return make_pipeline(prepared, rejecting).fit(frame.drop(columns="y"), frame["y"])


def ranked():
    """ExactBoost on columns with a category."""
    frame = patients()
    model = ExactBoostClassifier(metric="reject_cost", costs=COSTS, n_estimators=5, categorical_features=["town"])
    return model.set_params(random_state=0).fit(frame[["age", "town"]], frame["y"])


def promised(level=0.2):
    """A promise around a Pipeline."""
    X, y = _numbers()
    inner = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, cv=3))
    model = GuaranteedRejectClassifier(inner, guarantee=f"error<={level}", calibration_size=0.5, confidence=0.8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        return model.fit(X, y)


def promised_around(method, level):
    """A promise around what `recuse.fit` makes: novelties are found within it."""
    model = GuaranteedRejectClassifier(FrozenEstimator(fitted_on_table(method)), guarantee=f"error<={level}")
    return model.fit(patients().drop(columns="y"), patients()["y"])


MODELS = {
    "logistic-chow": lambda: fitted_on_table("logistic-chow"),
    "abstention-boosting": lambda: fitted_on_table("abstention-boosting"),
    "exactboost, the first class positive": lambda: fitted_on_table("exactboost", positive="ill", novelty="off"),
    "coupled": lambda: stumps(family="coupled"),
    "coupled, fixed boundary": lambda: stumps(family="coupled", monotonic_cst=[1, 0]),
    "exponential": lambda: stumps(family="decoupled", loss="exponential"),
    "pairs": lambda: stumps(
        ("age", "smokes", "town"),
        family="coupled",
        costs=0.2,
        interactions=[(0, 1), (1, 2), (0, 2)],
        categorical_features=["smokes", "town"],
    ),
    "edited": lambda: stumps(family="chow").edit("age", "cap", at_most=0.3),
    "a category removed": lambda: stumps(
        ("age", "smokes", "town"), family="chow", beta=0.002, categorical_features=["smokes", "town"]
    ).edit("town", "remove"),
    "exactboost": ranked,
    "scaled": lambda: rule(StandardScaler(), LogisticRegression()),
    "encoded, isotonic": encoded,
    "beta": lambda: rule(RobustScaler(), LogisticRegression(), calibration="beta"),
    "temperature of a machine": lambda: rule(
        make_pipeline(StandardScaler(), LinearSVC()), rule="chow", calibration="temperature"
    ),
    "machine, tuned": lambda: rule(StandardScaler(), LinearSVC(), rule="tuned"),
    "promised": lambda: fitted_on_table("logistic-chow", promise="error<=0.2", confidence=0.6),
    "promise around a pipeline": promised,
    "promise around a table": lambda: promised_around("logistic-chow", 0.15),
    "promise around boosting": lambda: promised_around("abstention-boosting", 0.12),
    "nothing promised": lambda: promised(0.001),
    "thresholds on boosting": lambda: rule(AbstentionBoostingClassifier(family="chow", costs=0.2, n_rounds=10, cv=3)),
}


@cache
def fitted(name):
    """The model of a name."""
    return MODELS[name]()
