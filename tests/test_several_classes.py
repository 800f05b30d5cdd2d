"""Three or more classes in what surrounds an estimator: batches, dask collections, guarantees, refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import recuse
from recuse import Costs, GuaranteedRejectClassifier, ThresholdRejectClassifier
from recuse.metrics import cost_curve, expected_cost

NAMES = ["setosa", "versicolor", "virginica"]
PRICES = Costs(
    errors={a: {b: 1 + i + 2 * j for j, b in enumerate(NAMES) if b != a} for i, a in enumerate(NAMES)}, reject=0.4
)


@pytest.fixture(scope="module")
def flowers():
    iris = load_iris(as_frame=True)
    X, y = iris.data.iloc[:, :2], iris.target_names[iris.target].astype(object)
    return X, y, ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X, y)


def test_a_batch_has_a_fixed_schema(flowers):
    X, _, model = flowers
    answers, decisions = recuse.score_batch(model, X), model.decide(X)
    assert answers["second"].tolist() == decisions.second.tolist()
    assert answers["second_score"].tolist() == decisions.second_score.tolist()
    assert recuse.score_batch(model, X[:0]).dtypes.equals(answers.dtypes)
    assert recuse.batches.batch_columns(model).answered == {name: str(kind) for name, kind in answers.dtypes.items()}


def test_partitioned_tables_get_the_same_answers_and_costs(flowers):
    dd = pytest.importorskip("dask.dataframe")
    from recuse.dask import metrics

    X, y, model = flowers
    decisions = model.decide(X)
    answered = recuse.decide(model, dd.from_pandas(X, npartitions=3)).compute()
    assert answered.columns.tolist() == decisions.to_pandas().columns.tolist()
    assert answered["second"].tolist() == decisions.second.tolist()
    outcomes, table = (dd.from_pandas(part, npartitions=3) for part in (pd.Series(y), decisions.to_pandas()))
    assert metrics.expected_cost(outcomes, table, costs=PRICES) == pytest.approx(expected_cost(y, decisions))
    by_dask, curve = metrics.cost_curve(outcomes, table, costs=PRICES), cost_curve(y, decisions)
    assert by_dask[1].min() == pytest.approx(curve[1].min())


def test_a_guarantee_around_any_rejector(flowers):
    X, y, model = flowers
    promised = GuaranteedRejectClassifier(model, guarantee="error<=0.3", confidence=0.8).fit(X, y)
    assert promised.guarantee_.holds
    assert promised.decide(X).accepted.any()
    assert set(promised.decide(X).second) <= set(NAMES)


def test_what_knows_two_classes_only_says_so(flowers):
    X, _, model = flowers
    with pytest.raises(ValueError, match=r"contributions are told for two classes; the model has \['setosa'"):
        recuse.contributions(model, X)
    with pytest.raises(ValueError, match=r"only two classes can be exported; the model has \['setosa'"):
        recuse.export(model, "sql")


def test_two_classes_out_of_a_list_for_three():
    iris = load_iris()
    X, y = iris.data[:100, :2], iris.target_names[iris.target][:100]
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X, y)
    plain = Costs(fp=3, fn=2, reject=0.4)
    same = ThresholdRejectClassifier(LogisticRegression(), costs=plain).fit(X, y)
    assert model.costs_ == plain
    assert model.decide(X) == same.decide(X)
    assert np.isfinite(expected_cost(y, model.decide(X), costs=PRICES))
