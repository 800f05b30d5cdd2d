"""What a reviewer asks: contributions as a table, and the training cases that are alike."""

import csv
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
)
from recuse.predicting import predict_table
from recuse.tables import TableColumns

PRICES = Costs(fp=1, fn=5, reject=0.3)


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "id": [f"c{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 0.5, n).round()),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        }
    )
    z = 0.06 * (frame["age"] - 50) - (frame["income"].fillna(20_000) / 20_000 - 1) + (frame["town"] == "Ulm")
    frame["outcome"] = np.where(rng.random(n) < expit(z), "bad", "good")
    return frame


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_contributions_of_a_table(loans, positive):
    model = recuse.fit(loans, "outcome", PRICES, method="logistic-chow", positive=positive, drop=["id"])
    found = recuse.contributions(model, loans)
    assert found.columns.tolist() == ["age", "income", "town", "(base)", "(score)", "(error)"]
    assert found.attrs["scale"] == f"log-odds of {positive!r}"
    p = model.predict_proba(loans)[:, ["bad", "good"].index(positive)]
    np.testing.assert_allclose(found["(score)"], logit(p), atol=1e-5)  # the preparation gives single precision
    np.testing.assert_allclose(found[["age", "income", "town", "(base)"]].sum(axis=1), found["(score)"], atol=1e-9)
    assert (found["(error)"] == 0).all()
    towards = np.corrcoef(found["age"], loans["age"])[0, 1]
    assert towards > 0.99 if positive == "bad" else towards < -0.99
    assert found.index.equals(loans.index)


@pytest.mark.parametrize(
    ("model", "is_exact"),
    [
        (DoubleHingeSVC(kernel="linear", costs=0.4), True),
        (DoubleRampSVC(kernel="linear", costs=0.4), True),
        (DoubleHingeSVC(costs=0.4), False),
        (CoupledOneClassSVC(costs=0.2), False),
        (AbstentionBoostingClassifier(family="chow", costs=0.4, n_rounds=20, random_state=0), True),
        (AbstentionBoostingClassifier(family="chow", costs=0.4, n_rounds=20, interactions=1, random_state=0), True),
        (ExactBoostClassifier(n_estimators=3, n_rounds=10, random_state=0), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_own_classifiers_add_up(overlapping, model, is_exact, tmp_path):
    X, y = overlapping
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    found = recuse.contributions(model, X)
    np.testing.assert_allclose(found["(score)"], model.decision_function(X), atol=1e-9)
    assert (found["(error)"] == 0).all() == is_exact
    if is_exact:
        assert np.ptp(found["(base)"]) < 1e-9
        np.testing.assert_allclose(found.iloc[:, : X.shape[1]].mean(), 0, atol=0.05)
    recuse.save(model, tmp_path / "m.skops")
    again = recuse.contributions(recuse.load(tmp_path / "m.skops"), X)
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_reasons_of_kernel_machines_name_columns(overlapping):
    X, y = overlapping
    for kernel in ("linear", "rbf"):
        model = DoubleHingeSVC(kernel=kernel, costs=0.4).fit(pd.DataFrame(X, columns=list("abcd")), y)
        decisions = model.decide(pd.DataFrame(X, columns=list("abcd")))
        said = [text for text in decisions.reason[decisions.rejected] if " speak" in text]
        assert len(said) > 0.5 * decisions.rejected.sum()
        assert all(("estimated" in text) == (kernel == "rbf") for text in said)


def test_what_cannot_be_told_is_said(overlapping):
    X, y = overlapping
    three = ThresholdRejectClassifier(LogisticRegression(), costs=0.5).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="contributions are told for two classes; the model has"):
        recuse.contributions(three, X)
    matrix = DoubleHingeSVC(kernel="precomputed", costs=0.4).fit(X @ X.T, y)
    with pytest.raises(ValueError, match=r"DoubleHingeSVC cannot tell what columns add: .* Fit again"):
        recuse.contributions(matrix, X @ X.T)


# Cases that are alike


def by_hand(frame, case):
    """Distances of a case from all others, column by column."""
    squares = np.zeros(len(frame))
    for name in ("age", "income"):
        values, value = frame[name].to_numpy(dtype=float), float(case[name])
        unit = (values - value) / np.nanstd(values)
        missing = np.isnan(values) != np.isnan(value)
        squares += np.where(missing, 1.0, np.nan_to_num(unit) ** 2)
    squares += (frame["town"] != case["town"]).to_numpy()
    return np.sqrt(squares / 3)


def test_nearest_cases_are_those_of_a_search_by_hand(loans, tmp_path):
    model = recuse.fit(loans, "outcome", PRICES, method="logistic-chow", positive="bad", drop=["id"], remember=True)
    recuse.save(model, tmp_path / "m.skops")
    model = recuse.load(tmp_path / "m.skops")
    found = recuse.nearest_cases(model, loans[:20], k=2)
    assert found.columns.tolist() == ["row", "class", "case", "distance"]
    for row in range(20):
        distances = by_hand(loans, loans.iloc[row])
        for label in ("bad", "good"):
            mine = found[(found["row"] == row) & (found["class"] == label)]
            expected = np.sort(distances[loans["outcome"] == label])[:2]
            np.testing.assert_allclose(mine["distance"], expected, atol=1e-5)
            np.testing.assert_allclose(distances[mine["case"] - 1], expected, atol=1e-5)  # rows of the table, from 1
            assert (loans["outcome"].to_numpy()[mine["case"] - 1] == label).all()


def test_reasons_name_them(loans):
    model = recuse.fit(loans, "outcome", PRICES, method="logistic-chow", positive="bad", drop=["id"])
    with pytest.raises(ValueError, match=r"neighbours needs training cases .* remember=True .*remember_cases"):
        recuse.decide(model, loans, neighbours=2)
    recuse.remember_cases(model, loans, loans["outcome"], ids=loans["id"])
    decisions = recuse.decide(model, loans, neighbours=1)
    row = int(np.flatnonzero(decisions.rejected)[0])
    own = loans["outcome"][row]
    assert f"; nearest {own!r}: case c{row} (0.00)" in decisions.reason[row]
    assert not any("nearest" in text for text in decisions.reason[decisions.accepted])
    with pytest.raises(ValueError, match="neighbours"):
        recuse.decide(model, loans, neighbours=0)
    with pytest.raises(ValueError, match="ids must have one entry for each of the 400 cases; got 3"):
        recuse.remember_cases(model, loans, loans["outcome"], ids=[1, 2, 3])
    with pytest.raises(ValueError, match="y holds 'maybe', which is no class of the model"):
        recuse.remember_cases(model, loans, ["maybe"] * 400)


def test_arrays_other_frames_and_a_bound_on_what_is_kept(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, y)
    recuse.remember_cases(model, X, y, most=25)
    assert len(model._remembered_cases.identity) == 25
    found = recuse.nearest_cases(model, X[:5].tolist(), k=40)  # fewer cases than asked for
    assert len(found) == 5 * 25
    names = pl.DataFrame(X, schema=list("abcd"))
    frame = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(names, y)
    recuse.remember_cases(frame, names, y)
    assert recuse.nearest_cases(frame, names[:3], k=1)["distance"].groupby([0, 0, 1, 1, 2, 2]).min().max() < 1e-6


def test_models_keep_no_cases_unless_asked(loans, tmp_path):
    model = recuse.fit(loans, "outcome", PRICES, method="boosting-chow", positive="bad", drop=["id"])
    assert not hasattr(model[-1], "_remembered_cases")
    assert model[-1]._typical.cases is None
    linear = recuse.fit(loans, "outcome", PRICES, method="logistic-chow", positive="bad", drop=["id"])
    assert linear[-1]._typical.cases is None


def test_files_of_answers_hold_them(loans, tmp_path):
    model = recuse.fit(loans, "outcome", PRICES, method="boosting-chow", positive="bad", drop=["id"], remember=True)
    loans.to_csv(tmp_path / "new.csv", index=False)
    predict_table(model, tmp_path / "new.csv", tmp_path / "a.csv", neighbours=1, rows_at_once=64)
    with open(tmp_path / "a.csv") as file:
        rows = list(csv.DictReader(file))
    expected = recuse.decide(model, loans, neighbours=1).reason.tolist()
    assert [row["reason"] for row in rows] == expected
    assert any("; nearest 'bad': case " in row["reason"] for row in rows)


def test_command_line(loans, tmp_path):
    loans.drop(columns="id").to_csv(tmp_path / "loans.csv", index=False)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "recuse", *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True
        )

    fitted = run("fit", "loans.csv", "-t", "outcome", "--positive", "bad", "-m", "logistic-chow", "--remember")
    assert fitted.returncode == 0, fitted.stderr
    answered = run("predict", "model.skops", "loans.csv", "-o", "a.csv", "--explain-all", "--neighbours", 1)
    assert answered.returncode == 0, answered.stderr
    answers = pd.read_csv(tmp_path / "a.csv")
    assert answers["reason"].str.contains(" speak").mean() > 0.9
    assert (answers["reason"].str.contains("; nearest ") == (answers["kind"] != "accept")).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", [recuse.decide, recuse.contributions])
def test_a_table_is_read_once(ask, monkeypatch):
    """Reading columns of text takes a good part of the time of an answer; what is far outside is found all the same."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"amount": rng.normal(size=80).round(2), "town": rng.choice(["a", "b", "c"], 80)})
    table["late"] = table["amount"] + rng.normal(size=80) > 0
    model = recuse.fit(table, "late", Costs(1, 1, 0.4), method="logistic-chow")
    read, transform = [], TableColumns.transform
    monkeypatch.setattr(TableColumns, "transform", lambda self, X: read.append(len(X)) or transform(self, X))
    new = table.drop(columns="late").assign(amount=lambda frame: frame["amount"].where(frame.index != 3, 1e9))
    found = ask(model, new)
    assert read == [80]
    if ask is recuse.decide:
        assert np.flatnonzero(found.kind == "novelty").tolist() == [3]
        assert "amount = " in " ".join(found.reason[found.kind == "ambiguity"])
