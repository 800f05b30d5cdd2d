"""Plans from tables and from answers to them."""

import pandas as pd
import pytest

from recuse import load
from recuse.planning import plan_reviews
from recuse.predicting import predict_table
from recuse.report import Volume
from tests.reviews.conftest import answers_file, make_cases, model_file  # noqa: F401  fixtures

VOLUME = Volume(3000, "month", minutes_per_case=10)


@pytest.fixture(scope="module")
def tables(model_file, tmp_path_factory):  # noqa: F811
    """A table with outcomes, and the answers to it with the outcome kept."""
    folder = tmp_path_factory.mktemp("plans")
    make_cases(800, 5).to_csv(folder / "table.csv", index=False)
    predict_table(model_file, folder / "table.csv", folder / "answers.csv", keep=["outcome"])
    return folder


def test_a_table_and_the_answers_to_it_give_the_same_plan(model_file, tables):  # noqa: F811
    plans = [
        plan_reviews(model_file, tables / name, target="outcome", volume=VOLUME, hours=100, days=3)
        for name in ("table.csv", "answers.csv")
    ]
    assert plans[0].known == "outcomes"
    for one, other in zip(plans[0].levels, plans[1].levels, strict=True):
        assert one.cost == pytest.approx(other.cost)
    table = pd.read_csv(tables / "table.csv")
    model = load(model_file)
    columns = table[["income", "debt", "outcome"]]
    assert plan_reviews(model, columns, target="outcome", volume=VOLUME, hours=100, days=3) == plans[0]


def test_without_outcomes_the_probabilities_are_believed(model_file, tables):  # noqa: F811
    options = {"volume": VOLUME, "hours": 100, "days": 3}
    believed = plan_reviews(model_file, tables / "answers.csv", **options)
    assert believed.known == "probabilities"
    known = plan_reviews(model_file, tables / "answers.csv", target="outcome", **options)
    assert believed.rejected.value == pytest.approx(known.rejected.value, rel=0.02)
    assert known.level.cost.low < believed.level.cost.value < known.level.cost.high  # it is calibrated on these cases


def test_cases_without_an_outcome_are_set_aside(model_file, tables, tmp_path):  # noqa: F811
    answers = pd.read_csv(tables / "answers.csv", dtype=str)
    answers.loc[:99, "outcome"] = None
    answers.to_csv(tmp_path / "answers.csv", index=False)
    assert plan_reviews(model_file, tmp_path / "answers.csv", target="outcome", volume=VOLUME).sample == 700


def test_plans_from_wrong_tables_say_why(model_file, tables):  # noqa: F811
    answers = pd.read_csv(tables / "answers.csv", dtype=str)
    for frame, target, message in [
        (answers, "income", "target='income' is no column of the answers"),
        (answers.assign(outcome="late"), "outcome", "holds 'late', which is no class of the model"),
        (answers.drop(columns="probability"), None, "the model has no probabilities: name the column"),
        (answers.assign(outcome=None), "outcome", "no cases with an outcome"),
    ]:
        with pytest.raises(ValueError, match=message):
            plan_reviews(model_file, frame, target=target, volume=VOLUME)
