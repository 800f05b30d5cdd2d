"""Today's policy: read, priced on the same cases, and never a feature."""

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.comparison.policy import as_policy_words, policy_answers
from recuse.metrics import expected_cost
from tests.comparison.conftest import COSTS, mixed_table

OPTIONS = {"positive": "bad", "costs": COSTS, "methods": ["logistic-chow"], "cv": 3, "repeats": 1}


def with_policy(**columns):
    table = mixed_table()
    today = np.where(table["score"] > 0.6, "bad", np.where(table["score"] < 0.2, "good", "Review"))
    return table.assign(today=today, **columns)


@pytest.mark.parametrize(
    ("values", "classes", "expected"),
    [
        (["yes", "NO", " review ", "manual"], ["good", "bad"], [1, 0, 2, 2]),
        (["bad", "good", "[abstain]", "Manual check"], ["good", "bad"], [1, 0, 2, 2]),
        ([1, 0, 1], ["good", "bad"], [1, 0, 1]),
        ([1.0, 0.0], [1, 0], [0, 1]),  # the outcomes are 0 and 1, and 0 is the positive one
        (["yes", "no"], ["yes", "no"], [0, 1]),
        ([True, False], ["good", "bad"], [1, 0]),
    ],
)
def test_words_of_a_policy(values, classes, expected):
    assert policy_answers(pd.Series(values, name="today"), classes).tolist() == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["yes", "maybe"], r"\['maybe'\], .* treats a case as 'bad' with --policy-yes, as 'good' with --policy-no"),
        (["yes", None, "no"], "policy='today' is empty in 1 of 3 cases; write review where"),
    ],
)
def test_what_is_no_policy(values, message):
    with pytest.raises(ValueError, match=message):
        policy_answers(pd.Series(values, name="today"), ["good", "bad"])


def test_words_of_its_own():
    words = as_policy_words({"yes": "Abgelehnt", "no": ["bewilligt", "ja"], "review": ("Zweitvotum",)}, "today")
    values = pd.Series(["bewilligt", "abgelehnt ", "zweitvotum", "JA", "review", "bad"], name="today")
    assert policy_answers(values, ["good", "bad"], words).tolist() == [0, 1, 2, 0, 2, 1]
    approved = as_policy_words({"no": "yes", "yes": "no"}, "approved")  # a yes approves, and treats nobody as bad
    assert policy_answers(pd.Series(["yes", "no"], name="approved"), ["good", "bad"], approved).tolist() == [0, 1]
    answers = policy_answers(pd.Series(["b", "Chef"], name="today"), ["a", "b", "c"], {"review": ["chef"]})
    assert answers.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("words", "policy", "message"),
    [
        ({"yes": "declined"}, None, "name it with policy"),
        ({"yess": "declined"}, "today", "'yess' is not known; did you mean 'yes'"),
        ({"yes": "declined", "no": ["Declined"]}, "today", "give 'declined' two meanings"),
    ],
)
def test_words_without_a_meaning_are_refused(words, policy, message):
    with pytest.raises(ValueError, match=message):
        as_policy_words(words, policy)
    with pytest.raises(ValueError, match="of 3 outcomes none is yes or no"):
        policy_answers(pd.Series(["a"], name="today"), ["a", "b", "c"], {"yes": ["declined"]})


def test_a_comparison_knows_the_words_and_keeps_them(tmp_path):
    table = with_policy().replace({"today": {"bad": "declined", "good": "approved", "Review": "referred to"}})
    words = {"yes": "declined", "no": "approved", "review": "referred to"}
    result = recuse.compare(table, "default", policy="today", policy_words=words, **OPTIONS)
    plain = recuse.compare(with_policy(), "default", policy="today", **OPTIONS)
    assert result.row("today").cost == plain.row("today").cost
    assert result.arguments.as_dict()["policy_words"] == {meaning: [text] for meaning, text in words.items()}
    assert result.arguments.of_folds() == plain.arguments.of_folds()


def test_it_is_priced_on_the_same_cases_and_is_no_feature():
    table = with_policy()
    result = recuse.compare(table, "default", policy="today", **OPTIONS)
    labels = table["today"].str.lower().replace("review", "[abstain]")
    cost = expected_cost(
        table["default"], labels, costs=COSTS, pos_label="bad", reject_label="[abstain]", labels=["good", "bad"]
    )
    row = result.row("today")
    assert row.cost.value == pytest.approx(cost)
    assert row.coverage == pytest.approx((labels != "[abstain]").mean())
    assert "today" not in result.cases.features.columns
    costs = [other.cost.value for other in result.rows if other.cost is not None]
    assert costs == sorted(costs)
    plain = recuse.compare(table.drop(columns="today"), "default", **OPTIONS)
    assert result.fingerprint == plain.fingerprint
    assert result.verdict == plain.verdict
    assert result.today_saving.saved.value <= cost - result.winner.cost.value + 1e-12
    title = result.winner.title
    beginnings = (f"{title} is cheaper", f"Whether {title} is cheaper", f"{title} is not cheaper")
    assert result.conclusions["today"].startswith(beginnings)


def test_segments_have_the_figures_of_today_beside_those_of_the_method():
    table = with_policy(region=np.where(np.arange(len(mixed_table())) % 3 == 0, "north", "south"))
    result = recuse.compare(table, "default", policy="today", by=["region"], drop=["region"], **OPTIONS)
    own = result.decisions()["cost"].to_numpy()
    for segment in result.segments:
        inside = (table["region"] == segment.label).to_numpy()
        labels = table["today"].str.lower().replace("review", "[abstain]")[inside]
        truth, answered = table["default"][inside], labels != "[abstain]"
        names = {"pos_label": "bad", "reject_label": "[abstain]", "labels": ["good", "bad"]}
        today = segment.today
        assert today.cost.value == pytest.approx(expected_cost(truth, labels, costs=COSTS, **names))
        assert today.review.value == pytest.approx(1 - answered.mean())
        assert today.error.value == pytest.approx((labels != truth)[answered].mean())
        assert today.saved.value == pytest.approx(today.cost.value - own[inside].mean())
        assert today.saved.low <= today.saved.value <= today.saved.high
        assert segment.as_dict()["today_saved"] == today.saved.value
    plain = recuse.compare(table, "default", by=["region"], drop=["region", "today"], **OPTIONS)
    assert not any(key.startswith("today") for key in plain.segments[0].as_dict())


def test_a_perfect_policy_is_not_beaten_and_not_chosen():
    table = mixed_table()
    result = recuse.compare(table.assign(oracle=table["default"]), "default", policy="oracle", **OPTIONS)
    assert result.rows[0].name == "today"
    assert result.row("today").cost.value == 0
    assert result.verdict.chosen != "today"
    assert result.today_saving.pays == "no"
    assert result.conclusions["today"].startswith(
        f"{result.winner.title} is not cheaper than today's policy (oracle): it costs "
    )
    assert "oracle" not in result.conclusions["method"]


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match=r"no column 'tody' with what is decided today: did you mean 'today'"):
        recuse.compare(with_policy(), "default", policy="tody", **OPTIONS)
