"""What a reader may expect of prices and figures, on eight tables: in the library, in the files and on the page.

The file takes about 50 s of processor time; a method or a table that is added must not make that more than 60 s.
"""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.comparison import METHODS, write_run
from recuse.comparison.constants import CONSTANTS
from recuse.report.html import as_count
from recuse.report.operating_points import (
    cheapest_point,
    forced_points,
    operating_points,
    point_cost,
    points_along,
)
from tests.processes import LIMIT
from tests.report.tables import EIGHT, TABLES, recomputed, scaled, with_review

REVIEWS = 10.0 ** np.linspace(-1.5, 1.0, 26)  # from a thirtieth of the price of the run to ten times that price
eight_tables = pytest.mark.parametrize("found", EIGHT, indirect=True)


@pytest.fixture(scope="module")
def found(request, tmp_path_factory):
    """The comparison on one of the tables, and its folder."""
    table = TABLES[request.param]
    options = {"cv": 2, "repeats": 1} | table.options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hints about identifiers and copies of rows
        result = recuse.compare(table.make(), table.target, costs=table.costs, **options)
    folder = tmp_path_factory.mktemp(request.param)
    write_run(result, folder)
    return result, folder


def test_every_method_and_every_way_to_follow_the_prices_is_there():
    assert len(EIGHT) == 8
    assert "methods" not in TABLES["mixed"].options  # all methods
    quick = [method for method in METHODS if method.name in TABLES["haberman"].options["methods"]]
    assert {method.moves for method in quick} == {method.moves for method in METHODS}


@eight_tables
@pytest.mark.parametrize("factor", [2.0, 0.01, 100.0])
def test_all_figures_scale_with_the_prices(found, factor):
    result, _ = found
    other = replace(result, costs=scaled(result.costs, factor))
    assert [row.name for row in other.rows] == [row.name for row in result.rows]
    for row, same in zip(result.rows, other.rows, strict=True):
        np.testing.assert_allclose(same.cost, factor * np.array(row.cost), rtol=1e-9)
        np.testing.assert_allclose(same.difference, factor * np.array(row.difference), rtol=1e-9, atol=1e-12 * factor)
    verdict, again = result.verdict, other.verdict
    assert (again.chosen, again.best_model) == (verdict.chosen, verdict.best_model)
    np.testing.assert_allclose(again.cost, factor * np.array(verdict.cost), rtol=1e-9)
    for question in ("answering", "rejecting", "signal"):
        before, after = getattr(verdict, question), getattr(again, question)
        assert (after.pays, after.rule, after.against) == (before.pays, before.rule, before.against)
        np.testing.assert_allclose(after.saved, factor * np.array(before.saved), rtol=1e-9, atol=1e-12 * factor)


def points_of(result, name):
    moves, answers = result.method(name).moves, result.answers[name]
    return [find(answers, result.positive, moves, result.costs) for find in (operating_points, forced_points)]


@eight_tables
def test_the_cost_of_every_method_is_monotone_and_continuous_in_the_price_of_review(found):
    result, _ = found
    for name in result.answers:
        points, _ = points_of(result, name)

        def cost(factor, points=points):
            costs = with_review(result.costs, factor)
            return point_cost(cheapest_point(points, costs), costs)

        assert cost(1.0) == pytest.approx(result.row(name).cost.value, rel=1e-9), name
        dearest = max(price for key, price in result.costs.as_dict().items() if key.startswith("reject"))
        steps = [*REVIEWS, *(REVIEWS * (1 + 1e-6)), *(1 + np.array([-1e-3, -1e-9, 0, 1e-9, 1e-3]))]
        costs = [cost(factor) for factor in sorted(steps)]
        rises, wider = np.diff(costs), np.diff(sorted(steps))
        assert (rises >= -1e-12).all(), name
        # A review that costs so much more can make a case cost at most as much more: nothing jumps.
        assert (rises <= dearest * wider + 1e-12).all(), name


@eight_tables
def test_the_lowest_point_of_every_curve_is_the_row(found):
    result, _ = found
    for name in result.answers:
        points, _ = points_of(result, name)
        costs = [point_cost(point, result.costs) for point in points_along(points, result.costs)]
        assert min(costs) == pytest.approx(result.row(name).cost.value, rel=1e-9), name


@eight_tables
@pytest.mark.parametrize("factor", [2.0, 0.01, 100.0])
def test_operating_points_scale_with_the_prices(found, factor):
    """At every price of review, whether the points were made in the one unit or in the other."""
    result, _ = found
    other = replace(result, costs=scaled(result.costs, factor))
    for name in result.answers:
        for points, same in zip(points_of(result, name), points_of(other, name), strict=True):
            for review in REVIEWS[::5]:
                costs = with_review(result.costs, review)
                once = point_cost(cheapest_point(points, costs), costs)
                for made in (points, same):
                    dearer = scaled(costs, factor)
                    assert point_cost(cheapest_point(made, dearer), dearer) == pytest.approx(factor * once, rel=1e-9)


@eight_tables
def test_headline_numbers_follow_from_decisions_csv(found):
    result, folder = found
    decisions = pd.read_csv(folder / "decisions.csv")
    expected = recomputed(decisions, result.cases.positive, result.costs)
    if (priced := expected.pop("priced")) is not None:
        assert expected["cost"] == pytest.approx(priced, rel=1e-9)
    summary = json.loads((folder / "summary.json").read_text())
    board = pd.read_csv(folder / "leaderboard.csv").set_index("method").loc[summary["winner"]]
    shown = next(row for row in summary["leaderboard"] if row["method"] == summary["winner"])
    for name, value in expected.items():
        assert shown[name] == (value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)), name
        assert value is None or board[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
    first = decisions["decision"] == "[abstain]"
    shown_cases = result.decisions(summary["verdict"]["best_model"])  # those of a constant answer are all alike
    assert summary["cases"]["total"] == (shown_cases["decision"] == "[abstain]").sum()
    if result.n_repeats == 1:
        np.testing.assert_array_equal(first, decisions["answered"] == 0)
    value, low, high = summary["verdict"]["cost"]
    assert 0 <= low <= value <= high
    assert low - 1e-9 <= expected["cost"] <= high + 1e-9


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from tests.report.test_browser import ARGUMENTS, CHROMIUM

    if CHROMIUM is None:
        pytest.skip("no browser: apt-get install chromium, or set CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


IN_THE_BROWSER = """reviews => [...methods, ...constants].map(method => {
  const cost = (unit, review) => costAt(method, pricesAt(unit * run.fp, unit * run.fn, unit * review * run.reject));
  const scales = reviews.every(review =>
    [2, 0.01, 100].every(unit => Math.abs(cost(unit, review) / (unit * cost(1, review)) - 1) < 1e-9));
  const dearest = run.reject * Math.max(1, run.reject_ratio, run.novelty_ratio === null ? 1 : run.novelty_ratio);
  const steps = [...reviews, ...reviews.map(review => review * (1 + 1e-6))].sort((a, b) => a - b);
  const rises = steps.slice(1).map((step, k) => [cost(1, step) - cost(1, steps[k]), dearest * (step - steps[k])]);
  return { name: method.name, scales,
    monotone: rises.every(([rise]) => rise >= -1e-12),
    continuous: rises.every(([rise, limit]) => rise <= limit + 1e-12),
    drawn: reviews.map(review => cost(1, review)),
    curve: reviews.map(review => {
      const p = pricesAt(run.fp, run.fn, review * run.reject);
      return pointsAlong(method.points, p).map(({ matrix }) => [matrixCoverage(matrix), matrixCost(matrix, p)]);
    }) };
})"""


@eight_tables
def test_in_the_browser(found, browser):
    """The page scales, never jumps, gives the library's costs at every price, and shows what decisions.csv says."""
    result, folder = found
    page = browser.new_page()
    page.set_default_timeout(1000 * LIMIT)
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    rows = page.evaluate(IN_THE_BROWSER, REVIEWS.tolist())
    assert {row["name"] for row in rows} == {*result.answers, *(constant.name for constant in CONSTANTS)}
    for row in rows:
        assert (row["scales"], row["monotone"], row["continuous"]) == (True, True, True), row["name"]
        if row["name"] in result.answers:
            points, _ = points_of(result, row["name"])
            prices = [with_review(result.costs, review) for review in REVIEWS]
            expected = [point_cost(cheapest_point(points, costs), costs) for costs in prices]
            np.testing.assert_allclose(row["drawn"], expected, rtol=1e-9)
            for costs, curve, stands in zip(prices, row["curve"], expected, strict=True):
                path = points_along(points, costs)
                np.testing.assert_allclose([cost for _, cost in curve], [point_cost(point, costs) for point in path])
                assert min(cost for _, cost in curve) == pytest.approx(stands, rel=1e-9)
    expected = recomputed(pd.read_csv(folder / "decisions.csv"), result.cases.positive, result.costs)
    cells = page.locator("#leaderboard tr.winner td").all_inner_texts()
    assert float(cells[0].split()[0]) == pytest.approx(expected["cost"], abs=6e-5)
    assert float(cells[2].split("%")[0]) == pytest.approx(100 * expected["coverage"], abs=0.0501)
    errors = [expected["misses"], expected["false_alarms"]]
    shown = [cells[column].split()[0].rstrip("*") for column in (4, 5)]
    assert shown == [as_count(round(number, 9)) for number in errors]
    page.close()
