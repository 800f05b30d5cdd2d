"""Streaming: the pieces give what the whole gives."""

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import recuse
from recuse import (
    AbstentionBoostingClassifier,
    DoubleHingeSVC,
    DoubleRampSVC,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
)
from recuse.baselines import EmbeddedRejectSVC, TwoStepBoostingClassifier
from recuse.comparison import fit
from recuse.predicting import Answered, inspect_model, predict_table
from recuse.tables import restored
from tests.comparison.conftest import COSTS, mixed_table


@pytest.fixture(scope="module")
def model():
    return fit(mixed_table(), "default", method="logistic-chow", positive="bad", costs=COSTS)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.parquet"])
@pytest.mark.parametrize("capacity", [None, 7])
def test_pieces_give_what_the_whole_gives(model, tmp_path, name, capacity):
    frame = mixed_table(100, seed=5)
    if name.endswith("parquet"):
        frame.to_parquet(tmp_path / name)
    else:
        frame.to_csv(tmp_path / name, index=False, sep="\t" if "tsv" in name else ",")
    seen, buffer = [], io.BytesIO()
    answered = predict_table(model, tmp_path / name, buffer, capacity=capacity, rows_at_once=33, progress=seen.append)
    whole = io.BytesIO()
    assert predict_table(model, tmp_path / name, whole, capacity=capacity) == answered
    assert buffer.getvalue() == whole.getvalue()
    assert seen == [33, 66, 99, 100]
    decisions = recuse.decide(model, frame)
    written = pd.read_csv(io.BytesIO(buffer.getvalue()))
    np.testing.assert_allclose(written["r"], decisions.r, rtol=5e-6)  # six digits
    np.testing.assert_allclose(written["h"], decisions.h, rtol=5e-6)
    assert written["reason"].tolist() == decisions.reason.tolist()
    assert answered.rejected == (~decisions.accepted).sum() > 7
    assert written["case"].tolist() == list(range(1, 101))


def test_a_bad_row_far_down_is_named_by_its_number(model, tmp_path):
    frame = mixed_table(100, seed=5)
    frame["score"] = frame["score"].astype(object)
    frame.loc[76, "score"] = "n/k"
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match="holds 'n/k' in row 77"):
        predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", rows_at_once=25)
    assert not (tmp_path / "out.csv").exists()


def test_integer_labels_read_abstain_too(tmp_path):
    frame = mixed_table(80).assign(default=lambda t: (t["default"] == "bad").astype(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = fit(frame, "default", method="logistic-chow", costs=COSTS)
    predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv")
    assert set(pd.read_csv(tmp_path / "out.csv")["decision"]) == {"0", "1", "[abstain]"}


def test_float_labels_keep_all_their_digits(tmp_path):
    """Only scores are rounded: a label such as 1234567.0 stays what it is."""
    frame = mixed_table(80).assign(default=lambda t: np.where(t["default"] == "bad", 1234568.0, 1234567.0))
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = fit(frame, "default", method="logistic-chow", positive=1234568, costs=COSTS)
    predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv")
    written = pd.read_csv(tmp_path / "out.csv")
    assert set(written["forced"]) == {1234567.0, 1234568.0}
    answered = written["decision"] != "[abstain]"
    np.testing.assert_array_equal(written.loc[answered, "decision"].astype(float), written.loc[answered, "forced"])


@pytest.mark.parametrize("capacity", [None, 5])
def test_labels_that_a_spreadsheet_would_run_are_marked_as_text(tmp_path, capacity):
    frame = mixed_table(80)
    frame["default"] = np.where(frame["default"] == "bad", "=HYPERLINK(1)", "@SUM(1)")
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = fit(frame, "default", method="logistic-chow", positive="=HYPERLINK(1)", costs=COSTS)
    options = {"capacity": capacity, "rows_at_once": 33}
    predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", **options)
    predict_table(model, tmp_path / "t.csv", tmp_path / "raw.csv", raw=True, **options)
    marked, raw = pd.read_csv(tmp_path / "out.csv"), pd.read_csv(tmp_path / "raw.csv")
    assert set(marked["forced"]) == {"'=HYPERLINK(1)", "'@SUM(1)"}
    assert set(raw["forced"]) == {"=HYPERLINK(1)", "@SUM(1)"}
    assert set(marked["decision"]) <= {"'=HYPERLINK(1)", "'@SUM(1)", "[abstain]"}
    assert marked["h"].min() < 0  # numbers are numbers
    pd.testing.assert_frame_equal(restored(marked), raw, check_dtype=False)


def test_cases_that_look_alike_in_the_file_are_reviewed_in_their_order(model, tmp_path):
    frame = pd.concat([mixed_table(30, seed=5)] * 3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", capacity=1000, rows_at_once=17)
    written = pd.read_csv(tmp_path / "out.csv").dropna(subset="review").sort_values("review")
    assert len(written) > 10
    assert written[["r", "case"]].apply(tuple, axis=1).is_monotonic_increasing


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda classifier: setattr(classifier, "_labels", None), r"fails on the cases from 1 on \(AttributeError: "),
        (lambda classifier: classifier.estimator_[-1].intercept_.fill(np.nan), r"NaN|not a number"),
    ],
)
def test_a_model_that_cannot_answer_is_refused_in_a_sentence(tmp_path, spoil, message):
    frame = mixed_table(80)
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = fit(frame, "default", method="logistic-chow", positive="bad", costs=COSTS)
    spoil(model[-1])
    with pytest.raises(ValueError, match=message):
        predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_sentences():
    assert str(Answered(10, 2, 1)) == "10 cases: 7 answered, 3 (30.0%) [abstain], 1 of them unlike any seen"
    assert str(Answered(10, 3, 0)) == "10 cases: 7 answered, 3 (30.0%) [abstain]"
    assert str(Answered(10, 3, 0, 0, -0.5)).endswith("the capacity of 0 leaves all of them out")
    assert str(Answered(10, 2, 1, 2, -0.5)).endswith(
        "the capacity of 2 ends at acceptance score -0.5, 1 cases are beyond it"
    )
    with pytest.raises(ValueError, match="capacity must be 0 or more"):
        predict_table(None, "x.csv", "out.csv", capacity=-1)


# What a file says of its thresholds

CLASSIFIERS = {
    "probability": ThresholdRejectClassifier(LogisticRegression(), costs=COSTS),
    "tuned": ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, rule="tuned"),
    "score": ThresholdRejectClassifier(LinearSVC(), costs=COSTS, rule="symmetric"),
    "double hinge": DoubleHingeSVC(costs=COSTS, C=10),
    "double ramp": DoubleRampSVC(costs=0.3),
    "embedded": EmbeddedRejectSVC(costs=COSTS),
    "chow": AbstentionBoostingClassifier(costs=COSTS, family="chow", n_rounds=20, beta=1e-3),
    "exact": ExactBoostClassifier(costs=COSTS, metric="reject_cost", n_estimators=10, random_state=0),
    "two steps": TwoStepBoostingClassifier(costs=COSTS, n_rounds=20),
}


@pytest.mark.parametrize("positive", ["bad", "good"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_inspect_prints_the_thresholds_that_the_reasons_speak_of(name, positive, overlapping, tmp_path):
    X, y = overlapping
    model = clone(CLASSIFIERS[name]).set_params(pos_label=positive).fit(X, np.array(["bad", "good"])[y])
    recuse.save(model, tmp_path / "m.skops")
    facts = inspect_model(tmp_path / "m.skops")
    said = [reason for reason in model.decide(X).reason if "between" in reason]
    assert len(said) > 3
    kind, link, towards = facts["score"].split()
    assert all(reason.startswith(kind) for reason in said)
    assert name in {"double hinge", "double ramp", "embedded"} or all(f" {link} {towards} " in text for text in said)
    shown = re.compile(r"between (?:the thresholds )?(\S+) and ([^\s,;:]+)")
    for reason in said:
        np.testing.assert_allclose(
            [float(edge) for edge in shown.search(reason).groups()], facts["thresholds"], rtol=5e-3
        )


def test_a_side_that_is_never_answered_has_no_threshold(overlapping, tmp_path):
    X, y = overlapping
    model = ThresholdRejectClassifier(LinearSVC(), costs=0.2, rule="tuned").fit(X, y)
    model._region = replace(model._region, lower=-np.inf)
    recuse.save(model, tmp_path / "m.skops")
    lower, upper = inspect_model(tmp_path / "m.skops")["thresholds"]
    assert lower is None
    assert upper == pytest.approx(model.thresholds_[1])
