import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from recuse import (
    AbstentionBoostingClassifier,
    Decisions,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
    cross_val_decide,
    decide,
    is_rejected,
)
from recuse.decisions import Decision
from recuse.folds import TimeFolds
from recuse.metrics import expected_cost


@pytest.fixture
def decisions(overlapping):
    X, y = overlapping
    return ThresholdRejectClassifier(LogisticRegression()).fit(X, y).decide(X)


def test_table(decisions):
    frame = decisions.to_pandas()
    assert list(frame.columns) == ["label", "forced", "accepted", "kind", "h", "r", "reason"]
    assert len(frame) == len(decisions) == 240
    assert frame["label"].tolist() == decisions.label.tolist()
    assert decisions.to_pandas(index=range(1000, 1240)).index[0] == 1000
    first = decisions[0]
    assert (first.label, first.kind, first.r) == (decisions.label[0], decisions.kind[0], decisions.r[0])
    assert decisions[-1] == decisions[239]
    assert len(decisions[[0, 5, 7]]) == 3
    counts = decisions.counts()
    assert counts["accept"] == decisions.accepted.sum()
    assert (
        repr(decisions)
        == f"Decisions(240 cases: {counts['accept']} accepted, {counts['ambiguity']} ambiguity, 0 novelty)"
    )


def test_has_no_truth_value_and_cannot_be_changed(decisions):
    with pytest.raises(TypeError, match="has no truth value"):
        bool(decisions)
    with pytest.raises(AttributeError):
        decisions.label = decisions.forced


def test_columns_must_be_aligned(decisions):
    with pytest.raises(ValueError, match="must have one length"):
        Decisions(**{name: getattr(decisions, name) for name in ("forced", "accepted", "kind", "h", "r", "reason")},
                  label=decisions.label[:5], classes=decisions.classes, reject_label=-1)  # fmt: skip


def test_only_tables_of_the_same_labels_are_stacked(decisions, overlapping):
    X, y = overlapping
    other = ThresholdRejectClassifier(LogisticRegression(), reject_label=9).fit(X, y).decide(X)
    with pytest.raises(ValueError, match=r"Cannot stack Decisions of different labels.*-1.*9"):
        Decisions.concatenate([decisions, other])
    assert len(Decisions.concatenate([decisions, decisions])) == 480


@pytest.mark.parametrize(
    "bury",
    [
        lambda model: CalibratedClassifierCV(model),
        lambda model: BaggingClassifier(model, n_estimators=2),
        lambda model: VotingClassifier([("a", model), ("b", LogisticRegression())]),
        lambda model: StackingClassifier([("a", model)]),
        lambda model: make_pipeline(StandardScaler(), BaggingClassifier(model, n_estimators=2)),
    ],
    ids=["calibration", "bagging", "voting", "stacking", "inside a pipeline"],
)
def test_a_buried_classifier_is_refused(bury, overlapping):
    X, y = overlapping
    model = bury(ThresholdRejectClassifier(LogisticRegression(), on_reject="never"))
    with pytest.raises(TypeError, match=r"its rejections are lost\. Put the reject option outermost"):
        decide(model.fit(X, y), X)


def test_an_estimator_without_reject_option_is_refused_with_the_remedy(overlapping):
    X, y = overlapping
    with pytest.raises(
        TypeError, match=r"Pipeline has no reject option: wrap it, ThresholdRejectClassifier\(LogisticReg"
    ):
        decide(make_pipeline(LogisticRegression()).fit(X, y), X)
    with pytest.raises(TypeError, match="Expected a fitted estimator; got the class LogisticRegression"):
        decide(LogisticRegression, X)
    with pytest.raises(TypeError, match="Expected a fitted estimator first, then the cases; got str"):
        decide("model.skops", X)


def test_unfitted(overlapping):
    X, _ = overlapping
    model = ThresholdRejectClassifier(LogisticRegression())
    for estimator in (model, make_pipeline(StandardScaler(), model), GridSearchCV(model, {"costs": [0.2]})):
        with pytest.raises(NotFittedError):
            decide(estimator, X)


def test_cross_val_decide_uses_models_that_never_saw_the_case(overlapping):
    X, y = overlapping
    groups = np.arange(len(y)) % 4
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    table = cross_val_decide(model, X, y, groups=groups, cv=GroupKFold(4))
    for group in range(4):
        test = groups == group
        fitted = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X[~test], y[~test])
        assert np.allclose(table[test].h, fitted.decision_function(X[test]))
    assert not hasattr(model, "classes_")
    parallel = cross_val_decide(model, X, y, groups=groups, cv=GroupKFold(4), n_jobs=2)
    assert np.array_equal(parallel.h, table.h)


def test_cross_val_decide_splits_the_weights(overlapping):
    X, y = overlapping
    weights = np.where(np.arange(len(y)) % 2, 1.0, 3.0)
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    model = ThresholdRejectClassifier(LogisticRegression())
    table = cross_val_decide(model, X, y, cv=folds, params={"sample_weight": weights})
    fitted = ThresholdRejectClassifier(LogisticRegression()).fit(X[:120], y[:120], sample_weight=weights[:120])
    assert np.allclose(table.h[120:], fitted.decision_function(X[120:]))


def test_no_case_may_be_tested_twice(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="puts cases into several test folds"):
        cross_val_decide(ThresholdRejectClassifier(LogisticRegression()), X, y, cv=ShuffleSplit(2, random_state=0))


def test_cases_that_are_never_tested_are_left_out_and_the_others_have_their_positions(overlapping):
    X, y = overlapping
    model = ThresholdRejectClassifier(LogisticRegression())
    table = cross_val_decide(model, X, y, cv=TimeFolds(3))
    folds = TimeFolds(3).split(X, y)
    np.testing.assert_array_equal(table.index, np.concatenate([test for _, test in folds]))
    for train, test in folds:
        expected = clone(model).fit(X[train], y[train]).decision_function(X[test])
        np.testing.assert_allclose(table.h[np.isin(table.index, test)], expected)
    half = table[::2]
    np.testing.assert_array_equal(half.index, table.index[::2])
    np.testing.assert_array_equal(Decisions.concatenate([half, table[1::2]]).index[: len(half)], half.index)
    assert table.to_pandas().index.tolist() == table.index.tolist()
    assert 0 < expected_cost(y[table.index], table) < 1


@pytest.mark.parametrize("kind", ["numbers", "dates", "text", "frame"])
def test_cross_val_decide_over_time(overlapping, kind):
    """Rows in any order: models are fitted on what came before the block they answer."""
    X, y = overlapping
    n = len(y)
    when = np.random.default_rng(0).permutation(n)
    dates = np.datetime64("2024-01-01") + when
    time = {"numbers": when, "dates": dates, "text": dates.astype(str), "frame": dates}[kind]
    cases = pd.DataFrame(X, index=[f"case {row}" for row in range(n)]) if kind == "frame" else X
    model = ThresholdRejectClassifier(LogisticRegression())
    table = cross_val_decide(model, cases, y, time=time, cv=3)
    names = table.index if kind != "frame" else [int(name.split()[1]) for name in table.index]
    np.testing.assert_array_equal(names, np.flatnonzero(when >= n // 4))
    last = np.flatnonzero(when >= n - n // 4)
    fitted = clone(model).fit(X[when < n - n // 4], y[when < n - n // 4])
    np.testing.assert_allclose(table.h[np.isin(names, last)], fitted.decision_function(X[last]), rtol=1e-4)


def test_time_that_cannot_be_used_is_refused(overlapping):
    X, y = overlapping
    model, n = ThresholdRejectClassifier(LogisticRegression()), len(y)
    with pytest.raises(ValueError, match="groups and time do not go together"):
        cross_val_decide(model, X, y, time=np.arange(n), groups=np.arange(n))
    with pytest.raises(ValueError, match=r"cv must be a number of blocks where time is given; got StratifiedKFold"):
        cross_val_decide(model, X, y, time=np.arange(n), cv=StratifiedKFold(3))
    with pytest.raises(ValueError, match=rf"one number or date per case, {n} in all; got shape \({n - 1},\)"):
        cross_val_decide(model, X, y, time=np.arange(n - 1))
    with pytest.raises(ValueError, match="time holds 'soon'; dates such as 2024-03-31, or numbers"):
        cross_val_decide(model, X, y, time=["soon"] * n)
    with pytest.raises(ValueError, match="time holds missing values"):
        cross_val_decide(model, X, y, time=np.where(np.arange(n) == 3, np.nan, np.arange(n)))


def test_is_rejected_never_guesses():
    with pytest.raises(ValueError, match="Which label marks a rejected case"):
        is_rejected([0, 1, -1])
    assert is_rejected(np.array([True, False]), -1).tolist() == [False, False]
    with pytest.raises(ValueError, match=r"reject_label=-1 cannot occur among answers such as \['yes'\]"):
        is_rejected(["yes", "[abstain]"], -1)
    with pytest.raises(ValueError, match="reject_label='-1' cannot occur among answers"):
        is_rejected([0, 1, -1], "-1")
    with pytest.raises(ValueError, match=r"answers must be one-dimensional, one per case; got shape \(\)"):
        is_rejected("[abstain]", "[abstain]")
    with pytest.raises(ValueError, match="Pass either"):
        is_rejected([0, 1], -1, estimator=LogisticRegression())


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], ["no", "yes"], [0.0, 1.0]], ids=str)
def test_is_rejected_finds_the_label_in_a_model_or_a_table(classes, overlapping):
    X, y = overlapping
    labels = np.array(classes)[y]
    model = ThresholdRejectClassifier(LogisticRegression()).fit(X, labels)
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, labels)
    search = GridSearchCV(clone(pipeline), {"thresholdrejectclassifier__rule": ["chow"]}, cv=2).fit(X, labels)
    for estimator in (model, pipeline, search):
        decisions, answers = decide(estimator, X), estimator.predict(X)
        assert decisions.rejected.any()
        for source in (estimator, decisions, decisions.reject_label):
            np.testing.assert_array_equal(is_rejected(answers, source), decisions.rejected)
        np.testing.assert_array_equal(is_rejected(answers, estimator=estimator), decisions.rejected)


@pytest.mark.parametrize(
    "source",
    [[-1], np.array([0, -1]), float("nan"), object(), {"reject_label": -1}],
    ids=["list", "array", "nan", "object", "dict"],
)
def test_is_rejected_refuses_what_is_no_label(source):
    with pytest.raises(ValueError, match="reject_label must be a number or a text; got"):
        is_rejected([0, 1, -1], source)


@pytest.mark.parametrize(
    ("answers", "label", "usual"),
    [
        ([0, 1, -1], 7, -1),
        ([0.0, 1.0, -1.0], 0.5, -1),
        (np.array([-1, 1, 0], dtype=np.int8), 7, -1),
        (["no", "yes", "[abstain]"], "review", "[abstain]"),
        (np.array(["no", "[abstain]"], dtype=object), "[abstains]", "[abstain]"),
    ],
    ids=str,
)
def test_is_rejected_refuses_a_label_that_is_not_that_of_the_answers(answers, label, usual):
    message = (
        rf"reject_label={re.escape(repr(label))} does not occur among the answers, but {re.escape(repr(usual))} does"
    )
    with pytest.raises(ValueError, match=message):
        is_rejected(answers, label)


def test_is_rejected_takes_a_batch_without_rejections(overlapping):
    X, y = overlapping
    for answers, label in (([0, 1], 7), ([-1, 0, 1], -2), ([-1, 1], 0), ([2, 3, 4], -1), (["no", "yes"], "[abstain]")):
        assert not is_rejected(answers, label).any()
    model = ThresholdRejectClassifier(LogisticRegression(), reject_label=7).fit(X, y + (y > 0) - 1 + (X[:, 0] > 0))
    assert not is_rejected([-1, 0, 1], model).any()  # whose label is known


def test_is_rejected_refuses_a_label_that_is_not_that_of_the_table(decisions):
    np.testing.assert_array_equal(is_rejected(decisions, decisions.reject_label), decisions.rejected)
    np.testing.assert_array_equal(is_rejected(decisions, estimator=decisions), decisions.rejected)
    with pytest.raises(ValueError, match=r"reject_label=7 is not the label of these decisions, -1: leave it out"):
        is_rejected(decisions, 7)


def test_is_rejected_refuses_a_model_that_cannot_reject(overlapping):
    X, y = overlapping
    with pytest.raises(TypeError, match="LogisticRegression has no reject option"):
        is_rejected([0, 1, -1], LogisticRegression().fit(X, y))
    with pytest.raises(NotFittedError):
        is_rejected([0, 1, -1], ThresholdRejectClassifier(LogisticRegression()))


def test_a_search_that_is_not_fitted_is_not_mistaken_for_a_classifier(overlapping):
    class Odd(BaseEstimator):
        def fit(self, X, y):
            return self

    with pytest.raises(TypeError, match="Odd has no reject option"):
        decide(Odd(), overlapping[0])
    X, y = overlapping
    unusable = GridSearchCV(ThresholdRejectClassifier(LogisticRegression()), {"costs": [0.2]}, refit=False).fit(X, y)
    with pytest.raises(TypeError, match="refit=False, so it holds no fitted model: set refit=True"):
        decide(unusable, X)


def test_rows_keep_the_names_of_the_frame(overlapping):
    X, y = overlapping
    frame = pd.DataFrame(X, index=[f"case {i}" for i in range(len(y))])
    model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression())).fit(frame, y)
    table = decide(model, frame[100:])
    assert table.to_pandas().index.tolist() == frame.index[100:].tolist()
    assert table[table.rejected].to_pandas().index.tolist() == frame.index[100:][table.rejected].tolist()
    both = Decisions.concatenate([table, decide(model, frame[:100])])
    assert both.to_pandas().index[-1] == "case 99"
    assert cross_val_decide(model, frame, y).to_pandas().index.tolist() == frame.index.tolist()
    assert Decisions.concatenate([table, decide(model, X)]).index is None


def test_tables_are_equal_when_they_say_the_same(decisions):
    assert decisions == decisions[:]
    assert decisions != decisions[::-1]
    assert decisions != "decisions"
    assert decisions[[]].counts() == {"accept": 0, "ambiguity": 0, "novelty": 0}
    assert decisions[np.array(3)] == decisions[3]
    with pytest.raises(TypeError, match=r"use decisions\.label"):
        decisions["label"]
    with pytest.raises(ValueError, match="at least one Decisions table"):
        Decisions.concatenate([])


def test_one_table_stacked_shares_no_memory_with_it(decisions):
    stacked = Decisions.concatenate([decisions])
    assert stacked == decisions
    for name in (*Decision._fields, "classes"):
        assert not np.shares_memory(getattr(stacked, name), getattr(decisions, name)), name


@pytest.mark.parametrize("rows", [slice(None), slice(0, 5), slice(None, None, -1), [0, 1], np.arange(240) < 9])
def test_a_part_of_a_table_shares_no_memory_with_it(rows, decisions):
    part = decisions[rows]
    for name in ("label", "forced", "accepted", "kind", "h", "r", "reason", "classes"):
        assert not np.shares_memory(getattr(part, name), getattr(decisions, name)), name
    before = decisions.h.copy()
    part.h[:] = 7.0
    np.testing.assert_array_equal(decisions.h, before)


@pytest.mark.parametrize("row", [True, False, np.True_, np.array(False)], ids=repr)
def test_a_truth_value_is_no_row(row, decisions):
    with pytest.raises(TypeError, match=rf"decisions\[{bool(row)}\] is no row: use a position, a slice, or a mask"):
        decisions[row]


def _lending():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"amount": rng.normal(size=200), "town": rng.choice(["Ulm", "Bonn"], 200), "age": rng.normal(size=200)}
    )
    noisy = frame["amount"] + (frame["town"] == "Ulm") + 0.5 * rng.normal(size=200)
    return frame, np.where(noisy > 0.5, "default", "paid")


@pytest.mark.parametrize(
    "classifier",
    [
        ExactBoostClassifier(n_estimators=5, n_rounds=5, random_state=0),
        AbstentionBoostingClassifier(family="coupled", beta=0.02, n_rounds=20),
    ],
)
def test_reasons_have_the_names_that_a_pipeline_lost(classifier):
    frame, y = _lending()
    encode = ColumnTransformer([("towns", OneHotEncoder(), ["town"])], remainder="passthrough", sparse_threshold=0)
    encode.set_params(verbose_feature_names_out=False)
    model = make_pipeline(encode, StandardScaler(), classifier)
    search = GridSearchCV(model, {f"{type(classifier).__name__.lower()}__n_rounds": [5]}, cv=2)
    for estimator in (model, search, make_pipeline("passthrough", model)):
        fitted = estimator.fit(frame, y)
        decisions = decide(fitted, frame, reasons="all")
        said = " ".join(decisions.reason)
        assert "amount = " in said
        assert re.search("town = (Ulm|Bonn)", said)  # as the table has it, not one column per town
        assert "x2" not in said
        assert decide(fitted, frame, reasons=False).reason.tolist() == [""] * 200
    assert not hasattr(model[-1], "feature_names_in_")  # the model itself is left as it was
    assert decisions[:3] == decide(fitted, frame[:3], reasons="all")


def test_names_that_no_step_knows_are_numbers():
    frame, y = _lending()
    nameless = FunctionTransformer(lambda X: np.column_stack([X["amount"], X["age"]]))
    model = make_pipeline(nameless, ExactBoostClassifier(n_estimators=3, n_rounds=3, random_state=0)).fit(frame, y)
    assert "x0 = " in decide(model, frame, reasons="all").reason[0]
    array = make_pipeline(StandardScaler(), clone(model[-1])).fit(frame[["amount", "age"]].to_numpy(), y)
    assert "x0 = " in decide(array, frame[["amount", "age"]].to_numpy(), reasons="all").reason[0]
