"""Tables of three outcomes and more: figures recomputed from the answers alone, choices, and what is refused."""

import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import recuse
from recuse import Costs
from recuse.comparison.constants import constants_of, probabilities_answered
from recuse.comparison.loading import load_cases, load_table
from recuse.comparison.own import able_methods, as_methods
from recuse.comparison.payments import Payments
from recuse.comparison.plans import Task
from recuse.comparison.prices import RunPrices
from recuse.comparison.printing import print_leaderboard
from recuse.comparison.segments import segments_of
from recuse.tables import TableFile, check_cases, cut_into_segments
from tests.departments import NAMES, PRICES, price_table, tickets

LOGISTIC = ["logistic-no-reject", "logistic-chow", "logistic-tuned"]
DROP = ["client", "day"]


@pytest.fixture(scope="session")
def prices_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("prices") / "prices.csv"
    path.write_text(PRICES)
    return path


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tickets") / "run"


@pytest.fixture(scope="session")
def departments(prices_file, run_folder):
    return recuse.compare(
        tickets(),
        "department",
        costs=prices_file,
        methods=LOGISTIC,
        cv=3,
        repeats=1,
        drop=DROP,
        by=["region"],
        policy="today",
        volume=recuse.report.Volume.of("1000/month", minutes_per_case=6),
        out=run_folder,
    )


def recomputed(decisions, prices):
    """The figures of a method from the columns of decisions.csv and the file of prices alone."""
    rejected = decisions["decision"] == "[abstain]"
    paid = [
        prices.loc[row.outcome, "reject" if row.decision == "[abstain]" else row.decision]
        for row in decisions.itertuples()
    ]
    wrong = ~rejected & (decisions["decision"] != decisions["outcome"])
    return {
        "cost": np.mean(paid),
        "coverage": 1 - rejected.mean(),
        "accuracy": 1 - wrong.sum() / (~rejected).sum() if not rejected.all() else None,
        "ambiguity": (decisions["kind"] == "ambiguity").mean(),
        "answered": (~rejected).sum(),
        "errors": wrong.sum(),
    }


def test_every_row_follows_from_its_decisions(departments, prices_file, run_folder):
    prices, board = price_table(prices_file), pd.read_csv(run_folder / "leaderboard.csv").set_index("method")
    assert list(board.index) == [row.name for row in departments.rows]
    assert board["cost"].is_monotonic_increasing
    for name in LOGISTIC:
        for figure, value in recomputed(departments.decisions(name), prices).items():
            assert board.loc[name, figure] == pytest.approx(value, abs=1e-9), (name, figure)
    shares = tickets()["department"].value_counts(normalize=True)
    for name in NAMES:
        assert board.loc[f"always-{name}", "cost"] == pytest.approx((shares * prices[name]).sum())
    assert board.loc["send-all", "cost"] == pytest.approx((shares * prices["reject"]).sum())
    today = tickets()["today"].replace("review", "reject")
    paid = [prices.loc[truth, answer] for truth, answer in zip(tickets()["department"], today, strict=True)]
    assert board.loc["today", "cost"] == pytest.approx(np.mean(paid))


def test_the_written_decisions_are_those_of_the_method_chosen(departments, run_folder):
    written, found = pd.read_csv(run_folder / "decisions.csv"), departments.decisions()
    assert written["decision"].tolist() == found["decision"].tolist()
    scores = found[[f"score of {name}" for name in NAMES]].to_numpy(copy=True)
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)
    codes = found["forced"].map(NAMES.index).to_numpy(dtype=int)
    rows = np.arange(len(codes))
    np.testing.assert_allclose(found["score"], scores[rows, codes])
    scores[rows, codes] = -1
    assert found["second"].tolist() == [NAMES[k] for k in scores.argmax(axis=1)]
    np.testing.assert_allclose(found["second_score"], scores.max(axis=1))
    assert (found["r"] > 0).tolist() == (found["kind"] == "accept").tolist()


def test_chows_rule_takes_the_answer_of_least_expected_cost(departments, prices_file):
    prices = price_table(prices_file)
    found = departments.decisions("logistic-chow")
    p = found[[f"score of {name}" for name in NAMES]].to_numpy()
    expected = p @ prices.loc[list(NAMES), [*NAMES, "reject"]].to_numpy()
    best = np.array([*NAMES, "[abstain]"])[expected.argmin(axis=1)]
    close = np.sort(expected, axis=1)[:, 1] - expected.min(axis=1) < 1e-9
    assert (found["decision"].to_numpy() == best)[~close].all()
    never = departments.decisions("logistic-no-reject")
    p = never[[f"score of {name}" for name in NAMES]].to_numpy()
    cheapest = np.array(NAMES)[(p @ prices.loc[list(NAMES), list(NAMES)].to_numpy()).argmin(axis=1)]
    assert (never["decision"].to_numpy() == cheapest).mean() > 0.999


def test_what_is_concluded(departments, capsys):
    verdict = departments.verdict
    assert verdict.model_chosen
    row = departments.winner
    review = departments.row("send-all").cost.value
    assert verdict.answering.saved.value == pytest.approx(review - verdict.cost.value)
    assert verdict.cost.value >= row.cost.value - 1e-12  # being chosen made it look no dearer
    assert departments.conclusions["volume"].startswith("With 1,000 cases a month")
    assert "today" in departments.conclusions
    assert "hours" in departments.conclusions
    print_leaderboard(departments)
    shown = capsys.readouterr().out
    assert "by true class" in shown
    assert shown.count("always-") == 1  # the cheapest of five
    for name in NAMES:
        assert f"  {name}" in shown


def test_outcomes_are_said_and_one_can_be_taken_against_the_rest(caplog):
    table = tickets(120)
    with caplog.at_level(logging.INFO, "recuse.comparison"):
        result = recuse.compare(table, "department", methods=["logistic-chow"], cv=2, repeats=1, drop=[*DROP, "today"])
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("table: department is taken as 5 outcomes in 120 cases, ")
    assert said[0].endswith("; --positive billing would take one against the rest.")
    assert said[1] == (
        "table: every error costs 1 and a review 0.3; --costs prices.csv (in Python, costs=) prices each."
    )
    assert result.costs.errors == tuple(tuple(float(i != j) for j in range(5)) for i in range(5))
    assert result.costs.reject == (0.3,) * 5
    against = recuse.compare(
        table, "department", positive="legal", methods=["logistic-chow"], cv=2, repeats=1, drop=DROP
    )
    assert against.cases.classes == ["not legal", "legal"]


def test_two_classes_by_a_list_for_each_class_are_the_same():
    """Prices of two classes written as a table of answers give the same figures."""
    rng = np.random.default_rng(0)
    truth, columns = rng.random(200) < 0.3, rng.integers(0, 4, size=(2, 200))
    two = Costs(fp=1, fn=5, reject_negative=0.3, reject_positive=0.5)
    table = Costs(errors=[[0, 1], [5, 0]], reject=[0.3, 0.5])
    first, second = (Payments.of(columns, truth, costs) for costs in (two, table))
    assert first.cost() == second.cost()
    other = Payments.of(columns[::-1], truth, two)
    assert first.saved_against(other) == second.saved_against(Payments.of(columns[::-1], truth, table))
    region = cut_into_segments(pd.Series(rng.choice(["a", "b"], 200), name="region"))
    assert segments_of([region], first, truth, seed=1) == segments_of([region], first, truth.astype(int), seed=1)


def test_segments_of_many_outcomes(departments):
    found = {segment.label: segment for segment in departments.segments}
    assert set(found) == {"north", "south"}
    decisions = departments.decisions()
    means = decisions.groupby("outcome")["cost"].mean()
    for label, segment in found.items():
        inside = decisions["segment of region"] == label
        assert segment.cases == inside.sum()
        assert segment.cost.value == pytest.approx(decisions["cost"][inside].mean())
        assert segment.expected["cost"] == pytest.approx(decisions["outcome"][inside].map(means).mean())
        assert "positives" not in segment.as_dict()


def random_prices(rng, n):
    """Prices of so many classes at which rejecting pays."""
    errors = rng.uniform(0.5, 5, size=(n, n)) * (1 - np.eye(n))
    return Costs(errors=errors, reject=rng.uniform(0.05, 0.2, n))


@given(seed=st.integers(0, 10**6), n=st.integers(3, 6))
@settings(max_examples=30, deadline=None)
def test_constant_answers_have_probabilities_that_give_them(seed, n):
    rng = np.random.default_rng(seed)
    costs, shares = random_prices(rng, n), rng.dirichlet(np.ones(n))
    matrix = costs.matrix()[:-1, : n + 1]
    for constant in constants_of([f"c{k}" for k in range(n)]):
        p = probabilities_answered(shares, costs, constant.column)
        assert p.sum() == pytest.approx(1)
        assert (p >= 0).all()
        assert int((p @ matrix).argmin()) == constant.column


def test_where_nothing_is_told_review_is_kept_and_its_model_reviews(tmp_path):
    table = tickets(150, signal=0.0).drop(columns=[*DROP, "today", "channel"])
    result = recuse.compare(table, "department", costs=0.3, methods=["logistic-chow"], cv=3, repeats=1)
    assert result.verdict.chosen == "send-all"
    assert set(result.decisions()["decision"]) == {"[abstain]"}
    assert "Manual review of every case" in result.conclusions["method"]
    recuse.save(result.model(), tmp_path / "all.skops")
    answers = recuse.decide(recuse.load(tmp_path / "all.skops"), table)
    assert answers.counts()["ambiguity"] == len(table)
    always = recuse.decide(result.model("always-sales"), table)
    assert set(always.label) == {"sales"}
    board = result.leaderboard.set_index("method")
    assert board.loc["always-sales", "errors"] == (table["department"] != "sales").sum()


def test_interrupted_runs_resume(tmp_path):
    table, calls = tickets(120).drop(columns=[*DROP, "today"]), []
    given = {"costs": 0.3, "methods": ["logistic-chow"], "cv": 2, "repeats": 1, "out": tmp_path / "run"}
    first = recuse.compare(table, "department", **given)
    again = recuse.compare(table, "department", **given, progress=lambda *report: calls.append(report))
    assert calls == [(2, 2, "")]  # both folds were there
    pd.testing.assert_frame_equal(first.decisions(), again.decisions())
    assert recuse.compare(table, "department", **{**given, "costs": 0.2}).costs.reject == (0.2,) * 5


def test_methods_that_tell_two_outcomes_apart_are_left_out():
    table = tickets(120).drop(columns=[*DROP, "today"])
    given = {"costs": 0.3, "cv": 2, "repeats": 1}
    prices = RunPrices.of(0.3)
    cases = load_cases(load_table(table, "department"), prices=prices)
    task = Task.of(cases, prices.settled(cases), 0)
    able, unable = able_methods(as_methods(None, len(table)), task, named=False)
    assert {"ensemble", *LOGISTIC, "forest-tuned"} <= {method.name for method in able}
    assert all("two outcomes" in why for why in unable.values())
    for method in unable:
        with pytest.raises(ValueError, match=f"methods: '{method.name}' tells two outcomes apart, and there are 5"):
            recuse.compare(table, "department", methods=[method.name], **given)
    own = recuse.compare(table, "department", methods=[("mine", LogisticRegression())], **given)
    assert own.row("mine").error is None
    with pytest.raises(ValueError, match="the name 'always-sales' is taken"):
        recuse.compare(table, "department", methods=[("always-sales", LogisticRegression())], **given)
    priced = recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.1)
    with pytest.warns(UserWarning, match="'own' is fitted at prices of its own"):
        recuse.compare(table, "department", methods=[("own", priced)], **given)


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        (
            {},
            {"costs": Costs(1, 5, 0.3)},
            "holds 5 different outcomes .* name the positive one, .* or give a price for ev",
        ),
        ({}, {"costs": 0.9}, "with 5 classes|Rejecting never pays"),
        ({"department": [f"d{k // 2}" for k in range(300)]}, {}, "150 different outcomes .* up to 50 can be compared"),
        ({"department": np.linspace(0, 1, 300)}, {}, "300 different numbers .* amounts rather than outcomes"),
        (
            {"department": ["rare"] * 3 + list("abc") * 99},
            {},
            "only 3 cases with department = 'rare'; .* put it together",
        ),
        ({}, {"costs": Costs(errors=[[0, 1, 1], [1, 0, 1], [1, 1, 0]], reject=0.2)}, "prices of 3 classes"),
        ({}, {"promise": "misses<=0.1"}, "knows a positive class"),
        ({"today": "somebody"}, {"policy": "today"}, "which is no outcome: write the outcome that is answered today"),
    ],
)
def test_what_is_refused(changed, options, message):
    given = {"methods": ["logistic-chow"], "cv": 2, "repeats": 1, "drop": DROP} | options
    with pytest.raises(ValueError, match=message) as caught:
        recuse.compare(tickets().assign(**changed), "department", **given)
    assert "\n" not in str(caught.value)


def test_prices_of_other_outcomes(prices_file, tmp_path, caplog):
    given = {"methods": ["logistic-chow"], "cv": 2, "repeats": 1, "drop": [*DROP, "today"]}
    table = tickets(150)
    other = table.assign(department=table["department"].replace("sales", "sale"))
    with pytest.raises(ValueError, match=r"no prices of department = \['sale'\]; it has 'sales', which no case has"):
        recuse.compare(other, "department", costs=prices_file, **given)
    assert RunPrices.of(TableFile(prices_file)) == RunPrices.of(str(prices_file)) == RunPrices.of(prices_file)
    with pytest.raises(ValueError, match="leave out --positive"):
        recuse.compare(table, "department", positive="legal", costs=prices_file, **given)
    without = table[table["department"] != "sales"]
    with caplog.at_level(logging.INFO, "recuse.comparison"):
        result = recuse.compare(without, "department", costs=prices_file, **given)
    assert result.costs.n_classes == 4
    assert any("prices of ['sales'] are not used" in record.getMessage() for record in caplog.records)
    two = without[without["department"].isin(["billing", "legal"])]
    costs = recuse.compare(two, "department", positive="legal", costs=prices_file, **given).costs
    assert costs == Costs(fp=2, fn=10, reject_negative=0.3, reject_positive=0.8)


def test_groups_and_time():
    table = tickets(240)
    given = {"costs": 0.3, "methods": ["logistic-chow"], "cv": 2, "drop": ["today"]}
    grouped = recuse.compare(table, "department", groups="client", repeats=1, **given)
    assert grouped.units is not None
    assert grouped.winner.cost.value > 0
    later = recuse.compare(table, "department", time="day", **given)
    assert len(later.decisions()) < len(table)
    assert later.decisions()["case"].min() > 1


def test_numbers_as_outcomes(tmp_path):
    table = tickets(150).drop(columns=[*DROP, "today"])
    table["department"] = table["department"].map(NAMES.index)
    path = tmp_path / "prices.csv"
    text = PRICES
    for code, name in enumerate(NAMES):
        text = text.replace(name, str(code))
    path.write_text(text)
    result = recuse.compare(table, "department", costs=path, methods=["logistic-chow"], cv=2, repeats=1)
    assert result.cases.classes == [0, 1, 2, 3, 4]
    assert result.costs.errors[1][0] == 10
    assert check_cases(table, "department", several=True).codes.tolist() == table["department"].tolist()


def test_promises_of_error_and_cost(prices_file, tmp_path):
    table = tickets(400, signal=2.0).drop(columns=[*DROP, "today"])
    given = {"method": "logistic-chow", "promise": "error<=0.2, cost<=1.5"}
    model = recuse.fit(table, "department", prices_file, **given)
    guarantee = model[-1].guarantee_
    assert guarantee.holds
    recuse.save(model, tmp_path / "promised.skops")
    facts = recuse.predicting.inspect_model(tmp_path / "promised.skops")
    assert facts["promise"] == str(guarantee)
    new = tickets(400, seed=1, signal=2.0)
    answers = recuse.decide(recuse.load(tmp_path / "promised.skops"), new)
    wrong = answers.accepted & (answers.label != new["department"].to_numpy())
    assert 0 < wrong.sum() < 0.2 * answers.accepted.sum()
    found = recuse.evaluating.evaluate_table(tmp_path / "promised.skops", new, "department")
    assert found.error.value == pytest.approx(wrong.sum() / answers.accepted.sum())
