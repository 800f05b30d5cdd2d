"""The sentences: which columns speak for which class, with the values of the user's own table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, ThresholdRejectClassifier, decide
from recuse.explaining import Contributions, ShownColumns, as_text, columns_speaking

PRICES = Costs(fp=1, fn=5, reject=0.3)


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 0.5, n).round()),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "since": pd.to_datetime("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D"),
            "job": rng.choice([f"title {i}" for i in range(60)], n),
        }
    )
    z = 0.06 * (frame["age"] - 50) - (frame["income"].fillna(20_000) / 20_000 - 1) + (frame["town"] == "Ulm")
    frame["outcome"] = np.where(rng.random(n) < expit(z), "bad", "good")
    return frame


@pytest.mark.parametrize("method", ["logistic-chow", "boosting-chow", "forest-tuned"])
def test_reasons_on_a_table_name_its_columns_with_their_values(loans, method, tmp_path):
    model = recuse.fit(loans, "outcome", PRICES, method=method, positive="bad")
    decisions = decide(model, loans)
    rejected = np.flatnonzero(~decisions.accepted)
    assert 20 < len(rejected) < len(loans)
    named = 0
    for row in rejected:
        sentence, _, columns = decisions.reason[row].partition(": ")
        assert "of 'bad' lies between" in sentence
        parts = columns.split(" speak")
        assert len(columns) == 0 or parts[-1].endswith(("for 'bad'", "for 'good'"))
        assert "_" not in columns  # no column of the preparation
        named += f"age = {loans['age'][row]}" in columns
    assert named > 0.5 * len(rejected)
    assert not any(": " in text for text in decisions.reason[decisions.accepted])
    told = decide(model, loans, reasons="all")
    assert sum(": " in text for text in told.reason) > 0.9 * len(loans)
    assert told.label.tolist() == decisions.label.tolist()
    recuse.save(model, tmp_path / "model.skops")
    again = recuse.load(tmp_path / "model.skops")
    assert decide(again, loans).reason.tolist() == decisions.reason.tolist()
    assert decide(model, loans[40:60]).reason.tolist() == decisions.reason[40:60].tolist()


def test_who_speaks_for_which_class(loans):
    figures = loans[["age", "income"]].fillna(20_000.0)
    for positive in ("bad", "good"):
        classifier = ThresholdRejectClassifier(LogisticRegression(), costs=0.05, pos_label=positive)
        model = make_pipeline(StandardScaler(), classifier).fit(figures, loans["outcome"])
        old_and_poor = pd.DataFrame({"age": [75.0, 20.0], "income": [60_000.0, 8_500.5]})
        first, second = decide(model, old_and_poor, reasons="all").reason
        assert "age = 75 speaks for 'bad'" in first
        assert "income = 60,000 speaks for 'good'" in first
        assert "age = 20 speaks for 'good'" in second
        assert "income = 8,500.5 speaks for 'bad'" in second


def test_a_novelty_keeps_its_own_reason(loans):
    figures = loans[["age", "income"]].fillna(20_000.0).to_numpy()
    model = ThresholdRejectClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), costs=PRICES, novelty=IsolationForest(random_state=0)
    ).fit(figures, loans["outcome"])
    decisions = model.decide(figures)
    assert not any(" speak" in text for text in decisions.reason[decisions.kind == "novelty"])
    assert any(" speak" in text for text in decisions.reason[decisions.kind == "ambiguity"])


def test_estimates_say_that_they_are(loans):
    figures = loans[["age", "income"]].fillna(20_000.0)
    model = ThresholdRejectClassifier(GaussianNB(), costs=PRICES).fit(figures, loans["outcome"])
    said = [text for text in decide(model, figures).reason if " speak" in text]
    assert said
    assert all("(estimated, ± " in text for text in said)


def test_weights_frames_of_polars_and_lists(loans):
    figures = loans[["age", "income"]].fillna(20_000.0)
    weights = np.arange(len(loans)) % 2 + 0.5
    model = ThresholdRejectClassifier(HistGradientBoostingClassifier(max_iter=10), costs=PRICES)
    model.fit(figures, loans["outcome"], sample_weight=weights)
    from_pandas = model.decide(figures).reason.tolist()
    assert any("age = " in text for text in from_pandas)
    assert model.decide(pl.from_pandas(figures)).reason.tolist() == from_pandas
    array = ThresholdRejectClassifier(HistGradientBoostingClassifier(max_iter=10), costs=PRICES)
    array.fit(figures.to_numpy(), loans["outcome"], sample_weight=weights)
    assert any("x0 = " in text for text in array.decide(figures.to_numpy().tolist()).reason)
    bayes = ThresholdRejectClassifier(GaussianNB(), costs=PRICES).fit(figures, loans["outcome"])
    assert bayes.decide(pl.from_pandas(figures)).reason.tolist() == bayes.decide(figures).reason.tolist()


def test_three_classes_have_the_sentence_alone(loans):
    figures = loans[["age", "income"]].fillna(20_000.0)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.64)
    model = make_pipeline(StandardScaler(), model).fit(figures, np.arange(len(loans)) % 3)
    assert not any(" speak" in text for text in decide(model, figures, reasons="all").reason)


def test_reasons_must_be_known(loans):
    figures = loans[["age", "income"]].fillna(20_000.0)
    model = ThresholdRejectClassifier(GaussianNB(), costs=PRICES).fit(figures, loans["outcome"])
    for ask in (lambda: decide(model, figures, reasons="some"), lambda: model.decide(figures, reasons=2)):
        with pytest.raises(ValueError, match=r"reasons=.* is not known: give True .*'all'.* or False"):
            ask()


# Words


def test_values_are_written_as_people_write_them():
    assert as_text("income", np.float64(12300.0)) == "income = 12,300"
    assert as_text("income", 1234567.891) == "income = 1,234,567.9"
    assert as_text("rate", 0.0123456) == "rate = 0.01235"
    assert as_text("smoker", np.bool_(True)) == "smoker = True"
    assert as_text("since", pd.Timestamp("2024-03-01")) == "since = 2024-03-01"
    assert as_text("note", "two\nlines") == "note = two lines"
    assert as_text("note", "x" * 90) == f"note = {'x' * 37}..."
    for nothing in (None, np.nan, pd.NA, pd.NaT):
        assert as_text("town", nothing) == "town missing"


def test_three_columns_at_most_and_the_heavier_side_first():
    amounts = np.array([[0.5, -2.0, 1.0, 0.01, -0.4], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0]])
    columns = ShownColumns.of(np.arange(15).reshape(3, 5), list("abcde"))
    said = columns_speaking(Contributions(amounts, np.zeros(3), "score"), columns, [0, 1, 2], ["no", "yes"])
    assert said == [
        "b = 1 speaks for 'no', c = 2 and a = 0 speak for 'yes'",
        "",
        "a = 10, b = 11 and c = 12 speak for 'yes'",
    ]


def test_pairs_are_named_by_both_columns_and_follow_them_to_their_sources():
    # Columns 0 and 1 were made from column 0 of the table, column 2 from column 1.
    pairs = ((0, 1), (0, 2), (1, 2))
    made = Contributions(np.array([[0.5, 0.25, -1.0, 0.125, 2.0, 4.0]]), np.zeros(1), "score", pairs=pairs)
    found = made.by_source(np.array([0, 0, 1]), 2)
    assert found.pairs == ((0, 1),)
    assert found.amounts.tolist() == [[0.875, -1.0, 6.0]]
    assert found.without_pairs().amounts.tolist() == [[3.875, 2.0]]
    columns = ShownColumns.of(pd.DataFrame({"age": [61], "smoking": [None]}))
    (text,) = columns_speaking(found, columns, [0], ["no", "yes"])
    assert text == "age x smoking (61, missing) and age = 61 speak for 'yes', smoking missing speaks for 'no'"


def test_what_an_estimate_does_not_tell_from_nothing_is_not_named():
    amounts, error = np.array([[1.0, -0.5, 0.3]]), np.array([[0.1, 0.4, 0.01]])
    columns = ShownColumns.of(np.zeros((1, 3)), list("abc"))
    (said,) = columns_speaking(Contributions(amounts, np.zeros(1), "score", error), columns, [0], [0, 1])
    assert said == "a = 0 and c = 0 speak for 1 (estimated, ± 10% of the largest)"
