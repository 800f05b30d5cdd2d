"""Methods that take categories by themselves get them: unseen ones, missing ones, reasons, saved models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import AbstentionBoostingClassifier, Costs, EnsembleRejectClassifier, ExactBoostClassifier
from recuse import ThresholdRejectClassifier as Threshold
from recuse.comparison import METHODS, compare, fit
from recuse.comparison.own import as_methods, takes_categories

pytestmark = pytest.mark.filterwarnings("ignore:values that the training table never had")  # astronauts are meant
PRICES = Costs(fp=1, fn=3, reject=0.3)
TAKERS = ["boosting-chow", "boosting-tuned", "abstention-boosting", "exactboost"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    job = rng.choice(["student", "nurse", "clerk", "retired", None], 400, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    frame = pd.DataFrame({"job": job, "score": rng.normal(size=400), "town": rng.choice(["Ulm", "Bonn"], 400)})
    z = np.where(job == "student", 2.0, -0.5) + frame["score"]
    return frame.assign(default=np.where(rng.random(400) < 1 / (1 + np.exp(-z)), "bad", "good"))


@pytest.fixture(scope="module", params=[*TAKERS, "ensemble"])
def model(request, table):
    extra = {"effort": "quick"} if request.param == "ensemble" else {}
    return fit(table, "default", PRICES, method=request.param, positive="bad", **extra)


def new_cases(table):
    """A student, a category that training did not have, and a missing one, else alike."""
    case = table.drop(columns="default").iloc[:1]
    return pd.concat([case.assign(job=job, score=0.0) for job in ("student", "astronaut", None)], ignore_index=True)


def test_columns_of_categories_reach_the_classifier(model, table):
    names = list(model[-1].feature_names_in_)
    assert names == ["job", "score", "town"]  # not one column per category
    prepared = model[:-1].transform(table.drop(columns="default"))
    assert [prepared[name].dtype.name for name in names] == ["category", "float32", "category"]


def test_an_unseen_category_is_answered_like_a_missing_one(model, table):
    student, unseen, missing = model[-1].decision_function(model[:-1].transform(new_cases(table)))
    if not isinstance(model[-1], EnsembleRejectClassifier):  # whose linear members have a column for missing values
        assert unseen == pytest.approx(missing)
    assert np.isfinite([student, unseen, missing]).all()
    assert student != pytest.approx(unseen)


def test_reasons_name_the_category(model, table):
    decided = recuse.decide(model, new_cases(table), reasons="all")
    if isinstance(model[-1], Threshold):
        assert all("probability" in reason for reason in decided.reason)
        return
    assert "job = student" in decided.reason[0]
    assert "job = student" not in decided.reason[1]
    if isinstance(model[-1], EnsembleRejectClassifier):
        assert "job missing" in decided.reason[2]


def test_models_with_categories_are_saved_and_read_back(model, table, tmp_path):
    recuse.save(model, tmp_path / "model.skops")
    back = recuse.load(tmp_path / "model.skops")
    cases = pd.concat([table.drop(columns="default"), new_cases(table)], ignore_index=True)
    ours, theirs = recuse.decide(model, cases), recuse.decide(back, cases)
    assert theirs.h == pytest.approx(ours.h)
    assert list(theirs.reason) == list(ours.reason)


def test_which_methods_take_categories():
    taking = {method.name for method in METHODS if method.takes_categories}
    assert taking == {"ensemble", "boosting-no-reject", *TAKERS}


@pytest.mark.parametrize(
    ("estimator", "takes"),
    [
        (AbstentionBoostingClassifier(), True),
        (AbstentionBoostingClassifier(max_depth=2), False),  # trees refuse categories
        (AbstentionBoostingClassifier(categorical_features=None), False),
        (ExactBoostClassifier(), True),
        (HistGradientBoostingClassifier(), True),
        (HistGradientBoostingClassifier(max_depth=3), True),
        (HistGradientBoostingClassifier(categorical_features=[0]), False),
        (Threshold(HistGradientBoostingClassifier()), True),
        (GridSearchCV(HistGradientBoostingClassifier(), {"max_leaf_nodes": [3, 7]}), True),
        (LogisticRegression(), False),
        (make_pipeline(StandardScaler(), HistGradientBoostingClassifier()), False),
    ],
    ids=str,
)
def test_estimators_of_the_user_get_categories_if_they_take_them(estimator, takes):
    assert takes_categories(estimator) == takes
    (method,) = as_methods([("mine", estimator)], 100)
    assert method.takes_categories == takes


def test_own_estimators_of_either_kind_are_compared(table):
    mine = {
        "histogram": HistGradientBoostingClassifier(max_iter=10),
        "trees": AbstentionBoostingClassifier(costs=PRICES, pos_label="bad", max_depth=2, n_rounds=10, cv=2),
        "linear": LogisticRegression(),
    }
    found = compare(table, "default", positive="bad", costs=PRICES, methods=mine, cv=3, repeats=1)
    assert not found.leaderboard["error"].astype(bool).any()
    assert np.isfinite(found.leaderboard["cost"].to_numpy(dtype=float)).all()
