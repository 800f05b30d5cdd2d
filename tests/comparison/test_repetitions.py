"""Small tables are cross-validated with other folds until the choice is steady, or up to a limit that is stated."""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import recuse
from recuse import Costs, ThresholdRejectClassifier
from recuse.comparison import Method, compare, cross_validation, fits, methods
from recuse.comparison.choice import standard_error
from recuse.comparison.folds import FoldResult
from recuse.comparison.methods import CHOW
from recuse.comparison.plans import Plan
from recuse.comparison.repetitions import (
    MOST,
    SAME,
    Repetitions,
    in_question,
    most_repetitions,
    reach,
    why_enough,
    why_no_more,
)
from tests.comparison.conftest import COSTS, mixed_table

TIMES = ["fit_seconds", "predict_seconds"]


def quick(name, classifier):
    """Chow's rule on a classifier without hyper-parameters to choose."""

    def build(task):
        return Plan(ThresholdRejectClassifier(clone(classifier), costs=task.costs, pos_label=task.pos_label))

    return Method(name, name, build, CHOW)


QUICK = {
    "bayes": GaussianNB(),
    "logistic": LogisticRegression(),
    "neighbours": KNeighborsClassifier(15),
    "few neighbours": KNeighborsClassifier(7),
    "small tree": DecisionTreeClassifier(min_samples_leaf=30, random_state=0),
    "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
}


@pytest.fixture
def quick_methods(monkeypatch):
    """A list of methods that take no time."""
    monkeypatch.setattr(methods, "METHODS", tuple(quick(*item) for item in QUICK.items()))


def test_the_limit_follows_the_size():
    assert [most_repetitions(n) for n in (50, 300, 301, 600, 1_500, 1_501, 10**6)] == [10, 10, 9, 5, 2, 1, 1]
    assert MOST == 10
    assert [most_repetitions(600, p) for p in (1, 100, 101, 250, 251, 500, 10_000)] == [5, 5, 4, 2, 1, 1, 1]
    assert why_no_more(600, 1, 500) == "tables of more than 150,000 cells (cases times columns) are not repeated"
    assert why_no_more(600, 2, 250).startswith("the most for 600 cases of 250 columns; the choice")
    assert why_no_more(10_000, 1) == "tables of more than 1,500 cases are not repeated"
    assert why_no_more(300, 10).startswith("the most for 300 cases; the choice may still depend")
    assert why_no_more(300, 4).startswith("further folds of these groups lack an outcome")


def paid(behind, fold_noise, repeats, n=200, seed=0):
    """Prices that differ from case to case by 1, `behind` on average, and move by `fold_noise` with the folds."""
    rng = np.random.default_rng(seed)
    cases = rng.normal(size=n)
    cases = (cases - cases.mean()) / cases.std()
    moved = rng.normal(size=repeats) if repeats > 1 else np.zeros(1)
    moved = moved - moved.mean()
    if repeats > 1:
        moved /= moved.std(ddof=1)
    return behind + cases + fold_noise * moved[:, None]


ERROR = 1 / np.sqrt(200)  # standard error of the differences of `paid`


def question(best, prices, units=None):
    """What is in question, if all that is named here is a model."""
    return in_question(best, list(prices), prices, units)


def still(behind, repeats):
    """Prices that differ from case to case, `behind` on average, and do not move with the folds."""
    return np.repeat(paid(behind, 0, 1), repeats, axis=0)


@pytest.mark.parametrize("repeats", [1, 2, 4])
def test_a_later_method_matters_if_it_may_become_cheaper_by_a_standard_error(repeats):
    """Nothing was seen to move: the reach is that of what is assumed, two errors in one of so many repetitions."""
    far = (2 * 2 / repeats - 1) * ERROR
    prices = {
        "best": np.zeros((repeats, 200)),
        "close": still(far - 0.01 * ERROR, repeats),
        "far": still(far + 0.01 * ERROR, repeats),
    }
    assert standard_error(prices["close"].mean(axis=0)) == pytest.approx(ERROR)
    assert question("best", prices) == ["best", "close"]


@pytest.mark.parametrize("repeats", [4, 10])
def test_an_earlier_method_matters_if_it_may_come_within_a_standard_error(repeats):
    far = (2 * 2 / repeats + 1) * ERROR
    prices = {
        "far": still(far + 0.01 * ERROR, repeats),
        "close": still(far - 0.01 * ERROR, repeats),
        "best": np.zeros((repeats, 200)),
    }
    assert question("best", prices) == ["close", "best"]


def test_folds_that_move_a_difference_more_keep_it_in_question():
    """Behind by one error after four repetitions: out if folds move little, in question if they move much."""
    prices = {"best": np.zeros((4, 200)), "one": paid(ERROR, 0.5 * ERROR, 4)}
    assert question("best", prices) == ["best"]
    prices["one"] = paid(ERROR, 2.5 * ERROR, 4)
    assert question("best", prices) == ["best", "one"]
    for moved in (0.0, 0.5, 2.5):
        assert reach(paid(0.0, moved * ERROR, 4)) == pytest.approx(2 * np.sqrt((4 + 3 * moved**2) / 4 / 4))
    assert reach(paid(0.0, 0.0, 1)) == pytest.approx(4.0)


def test_a_method_with_fewer_repetitions_is_judged_by_those_it_has():
    """What was left behind after the first repetition is known no better than then."""
    prices = {"best": np.zeros((10, 200)), "late": still(0.9 * ERROR, 1), "known": still(0.9 * ERROR, 10)}
    assert question("best", prices) == ["best", "late"]


def test_nothing_else_is_in_question_far_behind_a_constant_answer():
    models = {"best": still(5.0 * ERROR, 1), "other": -still(-5.1 * ERROR, 1)}
    prices = models | {"send-all": np.zeros((1, 200))}
    assert in_question("best", list(models), prices) == ["best"]
    assert in_question("best", list(models), models) == ["best", "other"]


def test_units_count_in_what_is_in_question():
    """Forty patients with five visits each tell less than 200 patients."""
    units = np.repeat(np.arange(40), 5)
    differences = np.repeat(np.random.default_rng(0).normal(size=40), 5)
    behind = differences - differences.mean() + 4 / np.sqrt(200) * differences.std()
    prices = {"best": np.zeros((1, 200)), "other": behind[None]}
    assert question("best", prices) == ["best"]
    assert question("best", prices, units) == ["best", "other"]


@pytest.mark.parametrize(
    ("chosen", "fold_noise", "steady"),
    [
        ("aaaa", 1.3, True),  # .7 standard errors of the difference, from folds, is 1.4 here
        ("aaaa", 1.5, False),
        ("abaa", 0.1, False),
        ("baaa", 0.1, True),
        ("aa", 0.1, False),
    ],
)
def test_steady_is_the_same_choice_three_times_and_differences_that_folds_hardly_move(chosen, fold_noise, steady):
    prices = {"a": np.zeros((4, 200)), "b": paid(-0.5 * ERROR, fold_noise * ERROR, 4)}
    found = why_enough(list(chosen), "a", ["a", "b"], prices)
    assert (found is not None) == steady
    if steady:
        assert found.startswith(f"the choice was the same after each of the last {SAME}")


def test_what_other_folds_cannot_change_needs_no_repetition():
    prices = {"best": np.zeros((1, 200)), "send-all": np.full((1, 200), 0.3), "far": paid(9.0, 0, 1)}
    found = why_enough(["best"], "best", ["best", "far"], prices)
    assert found == "other folds are not expected to change the choice"


@pytest.mark.parametrize(
    ("behind", "repeats", "asked"), [(4.9, 1, True), (5.1, 1, False), (1.9, 4, True), (2.1, 4, False)]
)
def test_a_constant_answer_within_reach_asks_for_repetitions(behind, repeats, asked):
    """It is kept unless the model is cheaper by up to a standard error."""
    prices = {"model": still(-behind * ERROR, repeats), "send-all": np.zeros((1, 200))}
    assert (why_enough(["model"], "model", ["model"], prices) is None) == asked


@given(
    costs=hnp.arrays(float, 6, elements=st.floats(-1, 1, width=32)),
    moves=hnp.arrays(float, (6, 4), elements=st.floats(-0.25, 0.25, width=32)),
    best=st.integers(0, 5),
    scale=st.sampled_from([0.25, 8.0, 1024.0]),
)
def test_what_is_in_question_depends_on_no_currency(costs, moves, best, scale):
    rng = np.random.default_rng(0)
    names = [f"m{i}" for i in range(6)]
    prices = {
        name: cost + move[:, None] + rng.normal(size=50) for name, cost, move in zip(names, costs, moves, strict=True)
    }
    found = question(names[best], prices)
    assert names[best] in found
    assert question(names[best], {name: scale * rows for name, rows in prices.items()}) == found


def small_table(n=310, seed=4):
    """A table on which several methods are close."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = 1.2 * X[:, 0] + X[:, 1] * X[:, 2] - 0.3
    return pd.DataFrame(X, columns=list("abcde")).assign(y=rng.random(n) < 1 / (1 + np.exp(-score)))


@pytest.mark.usefixtures("quick_methods")
def test_the_order_of_the_leaders_depends_less_on_the_seed():
    """310 rows, four seeds: with repetitions the costs move less, and the order of the methods agrees more."""
    results = [compare(small_table(), "y", costs=0.3, cv=3, seed=seed) for seed in range(4)]
    assert {result.n_repeats for result in results} <= set(range(SAME, MOST + 1))
    prices = [result.repeated_prices for result in results]
    once = np.array([[found[name][0].mean() for name in QUICK] for found in prices])
    repeated = np.array([[found[name].mean() for name in QUICK] for found in prices])
    assert repeated.std(axis=0).mean() < 0.75 * once.std(axis=0).mean()
    agreement, before = (
        np.mean([kendalltau(*pair).statistic for pair in combinations(costs, 2)]) for costs in (repeated, once)
    )
    assert agreement > before + 0.1


OPTIONS = {"positive": "bad", "costs": COSTS, "methods": ["logistic-no-reject", "logistic-chow"], "cv": 2}


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """A run whose repetitions were chosen, its folder, and the progress it reported."""
    out, seen = tmp_path_factory.mktemp("repeated"), []
    result = compare(mixed_table(100), "default", out=out, progress=lambda *state: seen.append(state), **OPTIONS)
    return result, out, seen


def test_the_result_says_how_often_and_why(repeated, capsys):
    from recuse.comparison.printing import leaderboard_json, print_leaderboard

    result, out, _ = repeated
    assert result.arguments.repeats == "auto"
    assert 1 < result.n_repeats <= MOST
    assert isinstance(result.repetitions.steady, bool)
    facts = {"done": result.n_repeats, "steady": result.repetitions.steady, "why": result.repetitions.why}
    run = json.loads((out / "run.json").read_text())
    assert run["repetitions"] == facts
    assert run["arguments"]["repeats"] == "auto"
    assert json.loads(leaderboard_json(result))["repetitions"] == facts
    sentence = result.how_often_repeated
    assert sentence.startswith(f"Cross-validated {result.n_repeats} times, with other folds: {result.repetitions.why}.")
    assert sentence in (out / "report.html").read_text(encoding="utf-8")
    print_leaderboard(result)
    assert sentence in capsys.readouterr().out
    for name, answers in result.answers.items():
        assert result.row(name).repeats == len(answers.kind)
    assert result.row("send-all").repeats == result.n_repeats


def test_the_method_chosen_and_its_rivals_rest_on_all_repetitions(repeated):
    result, _, _ = repeated
    prices = result.repeated_prices
    models = list(result.answers)
    for name in {result.verdict.chosen, *in_question(result.verdict.best_model, models, prices)} & set(models):
        assert len(prices[name]) == result.n_repeats
    folds = result.answers[result.verdict.best_model].fold
    assert all(not np.array_equal(one, other) for one, other in combinations(folds, 2))


def test_only_the_first_repetition_gives_reasons(repeated):
    """No other is shown."""
    result, _, _ = repeated
    folds = result.answers[result.verdict.best_model].folds
    assert [any(fold.reason) for fold in folds] == [number < 2 for number in range(len(folds))]
    assert all(result.decisions()["reason"])


def test_progress_grows_with_the_repetitions(repeated):
    result, _, seen = repeated
    fits = sum(len(answers.folds) for answers in result.answers.values())
    assert seen[0] == (0, 4, "")
    assert seen[-1][:2] == (fits, fits)
    assert all(done <= total for done, total, _ in seen)
    totals = [total for _, total, _ in seen]
    assert totals == sorted(totals)
    assert seen[-1][2].endswith(f", repetition {result.n_repeats}")
    assert "repetition" not in seen[4][2]


def test_the_same_seed_gives_the_same_in_any_number_of_processes_and_after_an_interruption(repeated, monkeypatch):
    result, out, _ = repeated
    monkeypatch.setattr(cross_validation, "write_run", lambda *_: None)
    parallel = compare(mixed_table(100), "default", n_jobs=2, **OPTIONS)
    lost = sorted(out.glob(".cache/*/*.npz"))[1::3]
    for path in lost:
        path.unlink()
    fitted = []
    monkeypatch.setattr(fits, "run_fold", lambda *args, run=fits.run_fold: fitted.append(1) or run(*args))
    resumed = compare(mixed_table(100), "default", out=out, **OPTIONS)
    assert len(fitted) == len(lost) > 0
    for other in (parallel, resumed):
        assert other.repetitions == result.repetitions
        pd.testing.assert_frame_equal(
            other.leaderboard.drop(columns=TIMES), result.leaderboard.drop(columns=TIMES), rtol=1e-9
        )


def test_a_number_of_repetitions_goes_on_with_the_folds_that_are_there(repeated, monkeypatch):
    result, out, _ = repeated
    monkeypatch.setattr(cross_validation, "write_run", lambda *_: None)
    monkeypatch.setattr(fits, "run_fold", lambda *_: pytest.fail("fitted again"))
    once = compare(mixed_table(100), "default", repeats=1, out=out, **OPTIONS)
    assert once.repetitions == Repetitions(1, None, "as asked")
    for name, answers in once.answers.items():
        np.testing.assert_array_equal(answers.r, result.answers[name].r[:1])


@pytest.mark.usefixtures("quick_methods")
def test_seeds_share_no_folds():
    runs = [compare(small_table(), "y", methods=["bayes"], repeats=3, seed=seed) for seed in (0, 1, 2)]
    folds = [repetition for run in runs for repetition in run.answers["bayes"].fold]
    assert all(not np.array_equal(one, other) for one, other in combinations(folds, 2))


def run_from(answers):
    """In place of `run_fold`: answers written down for each method and repetition of two folds, without rejection."""
    folds_done = Counter()

    def run_fold(method, task, cases, train, test, shared=None, reasons=True):
        repetition = folds_done[method.name] // 2
        folds_done[method.name] += 1
        forced = answers(method.name, repetition)[test].astype(np.int8)
        accepted, h, ones = np.zeros(len(test), dtype=np.int8), 2.0 * forced - 1, np.ones(len(test))
        return FoldResult(test, forced, accepted, h, ones, h, [""] * len(test), fitted_on=1, trained_on=1)

    return run_fold


@pytest.mark.usefixtures("quick_methods")
def test_methods_far_behind_are_not_repeated_unless_they_come_close_again(monkeypatch):
    """Two methods were lucky with their first folds; then one that seemed behind is close, and one still is not."""
    positive = np.arange(200) % 2 == 0
    wrong = {"bayes": (8, 60), "logistic": (20, 60), "neighbours": (60, 60), "tree": (140, 140)}

    def answers(name, repetition):
        turned = np.random.default_rng([repetition, len(name)]).permutation(200) < wrong[name][repetition > 0]
        return positive ^ turned

    monkeypatch.setattr(fits, "run_fold", run_from(answers))
    table = pd.DataFrame({"x": np.arange(200) * 0.5, "y": positive})
    seen = []
    options = {"costs": Costs(1, 1, 0.45), "methods": list(wrong), "cv": 2}
    result = compare(table, "y", progress=lambda *state: seen.append(state), **options)
    repeats = {name: len(found.kind) for name, found in result.answers.items()}
    assert repeats == {
        "bayes": result.n_repeats,
        "logistic": result.n_repeats,
        "neighbours": result.n_repeats,
        "tree": 1,
    }
    told = result.how_often_repeated
    assert "Intervals of methods that were repeated include how much other folds would change." in told
    assert told.endswith("not expected to make matter to the choice; so there are fewer of tree 1.")
    # It missed the second repetition and caught up on it later.
    second = [title for _, _, title in seen if title.endswith("repetition 2")]
    assert second[:4] == ["logistic, repetition 2", "bayes, repetition 2"] * 2
    assert second[4:] == ["neighbours, repetition 2"] * 2


def test_groups_that_cannot_be_split_again_end_the_repetitions(monkeypatch):
    from recuse.comparison.cross_validation import _require_group_folds

    calls = []

    def refuse_the_third(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise ValueError("too unequal")
        _require_group_folds(*arguments)

    monkeypatch.setattr(cross_validation, "_require_group_folds", refuse_the_third)
    monkeypatch.setattr(cross_validation, "why_enough", lambda *_: None)
    table = mixed_table().assign(who=np.arange(160) // 2)
    result = compare(table, "default", positive="bad", groups="who", costs=COSTS, methods=["logistic-chow"], cv=2)
    assert result.n_repeats == 2
    assert "further folds of these groups lack an outcome" in result.how_often_repeated


def test_one_way_to_split_by_time():
    table = mixed_table()
    result = compare(table, "default", positive="bad", time="since", costs=COSTS, methods=["logistic-chow"], cv=2)
    assert result.how_often_repeated == "Cross-validated once: there is one way to split by time."


@pytest.mark.parametrize(
    ("repeats", "error", "message"),
    [
        ("often", ValueError, "repeats must be 'auto' or a number of 1 or more; got 'often'"),
        (0, ValueError, "repeats must be 1 or more; got 0"),
        (1.5, TypeError, "repeats must be an integer; got 1.5"),
    ],
)
def test_other_repeats_are_refused(table, repeats, error, message):
    with pytest.raises(error, match=message):
        recuse.compare(table, "default", repeats=repeats)
