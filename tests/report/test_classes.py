"""The page of five outcomes: points recomputed from the decisions alone, and what a reader sees and moves."""

import json

import numpy as np
import pytest

from recuse.class_costs import ClassCosts
from recuse.report import render, summarize
from recuse.report.class_points import (
    Factors,
    at_factors,
    cheapest_class_point,
    class_points,
    error_factors,
    forced_class_points,
)
from tests.comparison.test_classes import LOGISTIC, departments, prices_file, run_folder
from tests.departments import NAMES, price_table
from tests.report.test_browser import CHROMIUM, SIZES, browser, number, open_page, shown

__all__ = ["browser", "departments", "open_page", "prices_file", "run_folder"]
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")
REVIEWS = 10.0 ** np.linspace(-1, 1, 17)
ERRORS = [1.0, *10.0 ** np.array([-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1])]


@pytest.fixture(scope="session")
def page_file(departments, run_folder):
    return run_folder / "report.html"


@pytest.fixture(scope="session")
def summary(run_folder):
    return json.loads((run_folder / "summary.json").read_text())


def moved(prices, of_class, error, review):
    """Other prices: errors on cases of one class, and every review, times a factor."""
    changed = prices.copy()
    changed.loc[of_class, list(NAMES)] *= error
    changed["reject"] *= review
    return changed


def cost_of(answers, outcomes, prices):
    table = prices[[*NAMES, "reject"]].to_numpy()
    rows, columns = [prices.index.get_indexer(outcomes), [[*NAMES, "reject"].index(answer) for answer in answers]]
    return table[rows, columns].mean()


def from_decisions(decisions, prices, of_class, error, review):
    """What a method with probabilities costs at other prices, from the columns of decisions.csv alone.

    The cheapest of its own answers and of those that its probabilities imply at the prices of a grid, without what
    would have been cheaper than its own answers at the prices of the run; of those that answer every case, without what
    would have been cheaper than the classes that it was forced to give.
    """
    outcomes, p = decisions["outcome"], decisions[[f"score of {name}" for name in NAMES]].to_numpy()
    own = decisions["decision"].replace("[abstain]", "reject").to_numpy()
    then, limit = moved(prices, of_class, error, review), cost_of(own, outcomes, prices)
    lowest = cost_of(own, outcomes, then)
    forced = decisions["forced"].to_numpy()
    limit_of_all = max(limit, cost_of(forced, outcomes, prices))
    if cost_of(forced, outcomes, prices) >= limit:
        lowest = min(lowest, cost_of(forced, outcomes, then))
    for label in NAMES:
        for factor in ERRORS:
            for times in REVIEWS:
                list_of = moved(prices, label, factor, times).loc[list(NAMES), [*NAMES, "reject"]].to_numpy()
                answers = np.array([*NAMES, "reject"])[(p @ list_of).argmin(axis=1)]
                least = limit if "reject" in answers else limit_of_all
                if cost_of(answers, outcomes, prices) >= least * (1 - 1e-12):
                    lowest = min(lowest, cost_of(answers, outcomes, then))
    return lowest


PLACES = [("legal", 1.0, REVIEWS[4]), ("legal", ERRORS[8], 1.0), ("billing", ERRORS[2], REVIEWS[12])]


@pytest.mark.parametrize(("of_class", "error", "review"), PLACES)
def test_points_at_other_prices_follow_from_the_decisions(departments, prices_file, of_class, error, review):
    decisions = departments.decisions("logistic-chow")
    expected = from_decisions(decisions, price_table(prices_file), of_class, error, review)
    points = class_points(departments.answers["logistic-chow"], departments.truth, "chow", departments.costs)
    then = at_factors(departments.costs, Factors(NAMES.index(of_class), error, review))
    assert sorted([*error_factors(5), 1.0]) == pytest.approx(sorted(ERRORS))
    found = cheapest_class_point(points, then)
    assert (found.matrix * then).sum() / found.matrix.sum() == pytest.approx(expected)


@pytest.mark.parametrize("name", LOGISTIC)
@pytest.mark.parametrize("moves", ["chow", "no-reject", "tuned", "pair"])
def test_every_method_stands_at_its_own_answers_at_the_prices_of_the_run(departments, name, moves):
    costs, answers = departments.costs, departments.answers[name]
    unit = costs.matrix()[:-1]
    points = class_points(answers, departments.truth, moves, costs)
    assert cheapest_class_point(points, unit).matrix.tolist() == points[0].matrix.tolist()
    assert (points[0].matrix * unit).sum() / 300 == pytest.approx(departments.row(name).cost.value)
    for point in points + forced_class_points(answers, departments.truth, moves, costs):
        assert point.matrix.sum(axis=1) == pytest.approx(np.bincount(departments.truth))
    forced = forced_class_points(answers, departments.truth, moves, costs)
    assert all(point.matrix[:, 5:].sum() == 0 for point in forced)
    costs_by_review = [
        (cheapest_class_point(points, prices).matrix * prices).sum()
        for prices in (at_factors(costs, Factors(0, 1.0, review)) for review in np.linspace(0.1, 10, 60))
    ]
    assert (np.diff(costs_by_review) >= -1e-9).all()  # a cheaper review never costs more


def test_novelties_stay_with_the_reviewers(departments):
    from dataclasses import replace

    answers = departments.answers["logistic-chow"]
    kind = np.where(np.arange(300) % 10 == 0, 2, answers.kind).astype(np.int8)
    novel = replace(answers, kind=kind)
    for moves in ("chow", "pair"):
        for point in class_points(novel, departments.truth, moves, departments.costs):
            assert point.matrix[:, 6].sum() == 30
    (forced,) = forced_class_points(novel, departments.truth, "chow", departments.costs)
    assert forced.matrix[:, 5:].sum() == 0


def test_scaled_prices_have_the_same_points(departments):
    costs, answers = departments.costs, departments.answers["logistic-chow"]
    scaled = ClassCosts(errors=np.array(costs.errors) * 100, reject=[100 * price for price in costs.reject])
    once, again = (class_points(answers, departments.truth, "chow", given) for given in (costs, scaled))
    assert [point.matrix.tolist() for point in once] == [point.matrix.tolist() for point in again]


def test_the_summary_holds_no_infinity_and_hostile_names_close_nothing(departments):
    found = summarize(departments, departments.model())
    json.dumps(found, allow_nan=False)
    found["classes"][0] = "</script><b>town"
    page = render(found)
    assert "</script><b>town" not in page
    assert len(page) < 3_000_000


def test_probabilities_are_those_of_the_answer_that_would_be_given(departments, summary):
    assert set(summary["reliability"]) == {"logistic-chow", "logistic-no-reject", "logistic-tuned"}
    decisions = departments.decisions("logistic-chow")
    bins = summary["reliability"]["logistic-chow"]["bins"]
    counts = np.array([part["counts"] for part in bins])
    right = (decisions["forced"] == decisions["outcome"]).mean()
    assert sum(counts) == 300
    assert sum(counts * [part["observed"] for part in bins]) / 300 == pytest.approx(right)
    assert sum(counts * [part["predicted"] for part in bins]) / 300 == pytest.approx(decisions["score"].mean())


def count_of(page, i, j):
    return number(shown(page, f"m{i}-{j}"))


@needs_browser
def test_sliders_give_figures_that_follow_from_the_decisions(open_page, departments, prices_file, summary):
    page, prices = open_page(), price_table(prices_file)
    page.select_option("#choice", "logistic-chow")
    row = departments.row("logistic-chow")
    assert number(shown(page, "live-cost")) == pytest.approx(row.cost.value, abs=6e-5)
    for of_class, error, review in PLACES:
        page.select_option("#of-class", label=of_class)
        page.fill("#error", repr(float(error)))
        page.fill("#review", repr(float(review)))
        expected = from_decisions(departments.decisions("logistic-chow"), prices, of_class, error, review)
        assert number(shown(page, "live-cost")) == pytest.approx(expected, abs=6e-5)
        assert "Not the prices of the run" in shown(page, "prices-state")
        assert "a new run at these prices" in shown(page, "what-moves")
        # The matrix that is shown has this cost, and a row for every case.
        table = moved(prices, of_class, error, review).loc[list(NAMES), [*NAMES, "reject"]].to_numpy()
        matrix = np.array([[count_of(page, i, j) for j in range(6)] for i in range(5)])
        assert matrix.sum(axis=1).tolist() == summary["counts"]
        assert (matrix * table).sum() / matrix.sum() == pytest.approx(expected, abs=6e-5)
        by_class = page.locator("#by-class tbody tr").all_inner_texts()
        assert [number(text.split("\t")[1]) for text in by_class] == summary["counts"]
    page.click("#reset")
    assert number(shown(page, "live-cost")) == pytest.approx(row.cost.value, abs=6e-5)


@needs_browser
def test_the_browser_counts_as_python_does(open_page, departments, summary):
    page, rng = open_page(), np.random.default_rng(0)
    places = [(int(rng.integers(5)), *(10 ** rng.uniform(-1, 1, 2)).tolist()) for _ in range(20)]
    found = page.evaluate(
        """places => methods.map(method => places.map(([k, error, review]) => {
             const p = pricesAtFactors(run, k, error, review, summary.counts);
             return [costAt(method, p), matrixCost(cheapestPoint(method.forced, p).matrix, p)];
        }))""",
        places,
    )
    for method, rows in zip(summary["methods"], found, strict=True):
        answers, costs, truth = departments.answers[method["name"]], departments.costs, departments.truth
        given = [make(answers, truth, method["moves"], costs) for make in (class_points, forced_class_points)]
        for place, pair in zip(places, rows, strict=True):
            then = at_factors(costs, Factors(*place))
            for points, value in zip(given, pair, strict=True):
                assert (cheapest_class_point(points, then).matrix * then).sum() / 300 == pytest.approx(value)


@needs_browser
def test_a_factor_that_is_none_is_named_at_its_box(open_page):
    page = open_page()
    page.fill("#review", "2")
    page.fill("#review", "-1")
    words = "Not a number above 0: the figures are still those for 2 times the price of the run."
    assert page.locator("#review-mistyped").inner_text() == words
    page.click("#reset")
    assert not page.locator("#review-mistyped").is_visible()


@needs_browser
def test_intervals_of_money_are_those_of_the_library(open_page, departments):
    page, name = open_page(), "logistic-tuned"
    page.select_option("#choice", name)
    found = page.evaluate("costInterval(pointAt(methods.find(m => m.name === chosen), current()).matrix, current())")
    assert found == pytest.approx(list(departments.row(name).cost), rel=1e-6)
    wide = page.evaluate("costInterval(methods[0].points[0].matrix, current(), 1000)")
    assert wide[1:] == [0, departments.costs.matrix()[:-1].max()]
    saved = page.evaluate(
        "savedAgainstReview(pointAt(methods.find(m => m.name === chosen), current()).matrix, current())"
    )
    own, other = departments.payments[name], departments.payments["send-all"]
    assert saved[0] == pytest.approx(own.saved_against(other).value)
    assert saved[1:] == pytest.approx(list(own.saved_against(other))[1:], abs=0.01)


@needs_browser
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_screen_and_axe_finds_nothing(open_page, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".chart svg").count() == 5
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 20
    assert [(item["impact"], item["id"], item["nodes"][0]["html"]) for item in found["violations"]] == []


@needs_browser
def test_prints_on_one_page_wide_paper(open_page):
    page = open_page(color_scheme="dark")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.locator("#one-page").is_visible()
    assert page.locator("h1:visible").count() == 1


@needs_browser
def test_keys_move_the_sliders_and_folded_rows_unfold(open_page, departments):
    page = open_page()
    before = shown(page, "live-cost")
    page.locator("#review-slider").focus()
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    assert number(shown(page, "live-cost")) < number(before)
    assert page.get_attribute("#review-slider", "aria-valuetext") == "0.398 times"
    rows = page.locator("#leaderboard tbody tr:visible").count()
    page.locator("button.unfold").first.click()
    assert page.locator("#leaderboard tbody tr:visible").count() == len(departments.rows) > rows
