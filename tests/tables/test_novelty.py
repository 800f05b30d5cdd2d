"""Cases far outside the training range go to a person, with the reason."""

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.tables import TableColumns


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    income = rng.gamma(2, 9_000, n).round()
    return pd.DataFrame(
        {
            "income": income,
            "children": rng.integers(0, 3, n),
            "since": pd.date_range("2020-01-01", periods=n),
            "y": np.where(income + rng.normal(0, 5_000, n) > 18_000, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def model():
    return recuse.fit(people(), "y", method="logistic-chow", positive="yes")


def test_income_times_a_thousand_is_for_a_person(model, tmp_path):
    frame = people()
    new = frame[:4].copy()
    new.loc[1, "income"] = 31_000_000
    new.loc[2, "since"] = pd.Timestamp("1900-01-01")
    new.loc[3, "children"] = 5  # a little beyond
    recuse.save(model, tmp_path / "m.skops")
    for fitted in (model, recuse.load(tmp_path / "m.skops")):
        decisions = recuse.decide(fitted, new)
        assert [kind == "novelty" for kind in decisions.kind] == [False, True, True, True]
        low, high = frame["income"].min(), frame["income"].max()
        assert decisions.reason[1] == (
            f"a person should look, because income = 31,000,000 lies far outside the training range ({low:,.0f} to "
            f"{high:,.0f})"
        )
        assert decisions.label[1] == decisions.reject_label
        assert not decisions.accepted[1]
        assert decisions.r[1] < 0
        plain = recuse.decide(fitted, frame[:1])
        assert decisions.label[0] == plain.label[0]
    assert recuse.decide(model, new, reasons=False).counts()["novelty"] == 3


def test_it_can_be_left_out():
    model = recuse.fit(people(), "y", method="logistic-chow", positive="yes", novelty="off")
    new = people()[:2].assign(income=31e6)
    assert recuse.decide(model, new).counts()["novelty"] == 0
    with pytest.raises(ValueError, match="novelty='on' is not known: give 'range' or 'off'"):
        recuse.fit(people(), "y", method="logistic-chow", positive="yes", novelty="on")


def test_what_is_near_the_range_is_no_novelty():
    """Time goes on, and the largest of few cases is not the largest of all."""
    columns = TableColumns().fit(people().drop(columns="y"))
    near = pd.DataFrame(
        {"income": [-1.0, 90_000], "children": [4, -2], "since": pd.to_datetime(["2015-01-01", "2029-01-01"])}
    )
    assert columns.novelties(columns.transform(near)) == {}
    constant = TableColumns().fit(pd.DataFrame({"a": [3.0, 3.0]}))
    assert sorted(constant.novelties(pd.DataFrame({"a": [5.9, 6.1, np.nan, -1.0]}))) == [1, 3]


@pytest.mark.parametrize("draw", ["normal", "standard_exponential", "standard_cauchy"])
def test_new_cases_of_the_same_kind_are_rarely_rejected(draw):
    """Of 20 columns, however heavy their tails."""
    rng = np.random.default_rng(0)
    sizes = (500, 20), (2_000, 20)
    train, new = (pd.DataFrame(getattr(rng, draw)(size=size)).rename(columns=str) for size in sizes)
    columns = TableColumns().fit(train)
    assert len(columns.novelties(columns.transform(new))) / 2_000 < 0.05


def test_a_comparison_counts_them():
    frame = people()
    frame.loc[7, "income"] = 31_000_000
    result = recuse.compare(frame, "y", positive="yes", methods=["logistic-chow"], cv=3, repeats=1)
    decisions = result.decisions("logistic-chow")
    assert decisions.loc[7, "kind"] == "novelty"
    assert (decisions["kind"] == "novelty").sum() == 1
    off = recuse.compare(frame, "y", positive="yes", methods=["logistic-chow"], cv=3, repeats=1, novelty="off")
    assert (off.decisions("logistic-chow")["kind"] == "novelty").sum() == 0


def test_coverage_is_a_setting_of_methods_with_thresholds():
    model = recuse.fit(people(), "y", method="logistic-chow", positive="yes", coverage=0.6)
    assert recuse.decide(model, people(seed=1)).accepted.mean() == pytest.approx(0.6, abs=0.12)
    with pytest.raises(ValueError, match=r"coverage=0.6 needs a method .* thresholds.*'double-hinge' does not"):
        recuse.fit(people(), "y", method="double-hinge", positive="yes", coverage=0.6)
