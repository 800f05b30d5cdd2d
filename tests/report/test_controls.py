"""What a reader can do on the page: volume, thresholds, folded methods, downloads, printing; on desktop and phone."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import recuse
from recuse.comparison import write_report
from recuse.comparison.payments import Payments
from recuse.report import Volume, summarize
from tests.processes import LIMIT
from tests.report.test_browser import CHROMIUM, SIZES, browser, number, shown

__all__ = ["browser"]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")

SCHEMES = ("light", "dark")


def decided(n=420, seed=0):
    """Loans with today's decisions, and a region in which the outcome is mostly noise."""
    rng = np.random.default_rng(seed)
    x, region = rng.normal(size=n), rng.choice(["north", "south", "east"], n)
    y = x + np.where(region == "north", 2.5, 0.3) * rng.normal(size=n) > 0.4
    today = np.where(np.abs(x - 0.2) < 0.5, "review", np.where(x > 0.2, "bad", "good"))
    frame = pd.DataFrame({"region": region, "age": rng.integers(18, 90, n), "x": x, "=decision": today})
    return frame.assign(default=np.where(y, "bad", "good"))


@pytest.fixture(scope="module")
def full():
    """A comparison with everything a page can show, and more methods than are shown at once."""
    own = [
        ("naive", GaussianNB()),
        ("near", KNeighborsClassifier(25)),
        ("tree", DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
        ("poor", DummyClassifier(strategy="constant", constant="good")),
    ]
    return recuse.compare(
        decided(),
        "default",
        positive="bad",
        costs=recuse.Costs(1, 5, 0.3),
        methods=["logistic-no-reject", "logistic-chow", "logistic-tuned", *own],
        cv=3,
        repeats=1,
        by=["region", "age"],
        policy="=decision",
        volume=Volume(12_000, "month", "EUR", 6, 120),
    )


@pytest.fixture(scope="module")
def summary(full):
    return summarize(full, full.model())


@pytest.fixture(scope="module")
def full_file(full, tmp_path_factory):
    path = tmp_path_factory.mktemp("full") / "report.html"
    write_report(full, path)
    return path


@pytest.fixture
def open_page(browser, full_file):
    """Open the page; at the end nothing may have been complained of."""
    complaints, contexts = [], []

    def open_it(size="desktop", **options):
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * LIMIT)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(full_file.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


def numbers(text):
    return [float(part.replace(",", "")) for part in re.findall(r"-?\d[\d,]*\.?\d*", text)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(open_page, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(size, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 20
    assert [(item["impact"], item["id"], item["nodes"][0]["html"]) for item in found["violations"]] == []


@pytest.mark.parametrize("size", SIZES)
def test_money_is_that_of_the_verdict_at_the_prices_of_the_run(open_page, full, size):
    page, verdict = open_page(size), full.verdict
    rows = page.locator("#money tbody tr").all_inner_texts()
    assert len(rows) == 4  # the method, manual review, answering every case, today's policy
    cells = page.locator("#money tbody tr").nth(0).locator("td").all_inner_texts()
    assert numbers(cells[0]) == pytest.approx([12_000 * part for part in verdict.model_cost], abs=0.51)
    saved = page.locator("#money tbody tr").nth(1).locator("td").all_inner_texts()
    assert numbers(saved[0]) == [3_600]  # every review has one price, for certain
    assert numbers(saved[1]) == pytest.approx([12_000 * part for part in verdict.answering.saved], abs=0.51)
    today = page.locator("#money tbody tr").nth(3).locator("td").all_inner_texts()
    assert numbers(today[1]) == pytest.approx([12_000 * part for part in full.today_saving.saved], abs=0.51)
    for position in (1, 2, 3):  # costs and savings of one table add up
        paid, gained = page.locator("#money tbody tr").nth(position).locator("td").all_inner_texts()[:2]
        assert numbers(paid)[0] - numbers(cells[0])[0] == pytest.approx(numbers(gained)[0], abs=1.01)
    reviews = 12_000 * (1 - full.row(verdict.best_model).coverage)
    assert number(cells[2]) == pytest.approx(reviews, abs=0.51)
    assert number(cells[3]) == pytest.approx(reviews / 10, abs=0.51)
    assert number(cells[4]) == pytest.approx(reviews / 10 / 120, abs=0.051)
    assert full.conclusions["volume"] in shown(page, "volume-sentence")


@pytest.mark.parametrize("size", SIZES)
def test_money_follows_the_sliders_and_its_own_controls(open_page, size):
    page = open_page(size)
    page.fill("#reject", "0.1")
    cost = page.evaluate("costAt(methods.find(m => m.name === chosen), current())")
    cell = page.locator("#money tbody tr").nth(0).locator("td").nth(0)
    found = numbers(cell.inner_text())
    assert found[0] == pytest.approx(12_000 * cost, abs=0.51)
    assert found[1] < found[0] < found[2]
    assert "not the prices of the run" in shown(page, "money-sentence")
    page.fill("#volume-cases", "500")
    page.select_option("#volume-period", "week")
    page.fill("#volume-currency", "CHF")
    assert numbers(cell.inner_text())[0] == pytest.approx(500 * cost, abs=0.51)
    assert "CHF" in cell.inner_text()
    assert "500 cases a week" in shown(page, "money-sentence")
    assert float(page.input_value("#volume-hours")) == pytest.approx(120 * 7 / (365.25 / 12), abs=0.01)
    page.fill("#volume-minutes", "")
    assert page.locator("#money tbody tr").nth(0).locator("td").nth(4).inner_text() == "\N{EN DASH}"
    page.fill("#volume-cases", "-3")  # not a number of cases: nothing changes, and the box says so
    assert "500 cases a week" in shown(page, "money-sentence")
    assert shown(page, "volume-cases-mistyped") == "Not a number above 0: the figures are still those for 500."
    page.fill("#volume-cases", "")
    assert page.locator("#money-ask").is_visible()
    assert not page.locator("#money").is_visible()


def test_intervals_from_counts_are_the_library_s(open_page, full, summary):
    """At the prices of the run, of methods that were answered once: the same formulas in the browser."""
    page = open_page()
    for method in summary["methods"]:
        payments = full.payments[method["name"]]
        found = page.evaluate(
            """matrix => [costInterval(matrix, current()), savedAgainstReview(matrix, current())]""",
            method["points"][0]["matrix"],
        )
        assert found[0] == pytest.approx(list(payments.cost()), rel=1e-6, abs=1e-9)
        saved = payments.saved_against(full.payments["send-all"])
        assert found[1] == pytest.approx(list(saved), rel=1e-6, abs=1e-9)
    forced = page.evaluate("methods.map(m => savedAgainstForced(m.points[0].matrix, m.forced[0].matrix, current()))")
    for method, interval in zip(summary["methods"], forced, strict=True):
        answers = full.answers[method["name"]]
        other = Payments.of(answers.forced, full.positive, full.costs)
        assert interval[0] == pytest.approx(full.payments[method["name"]].saved_against(other).value, abs=1e-9)


@pytest.mark.parametrize("typed", ["-1", "0", ""])
def test_a_price_that_is_none_is_named_at_its_box(open_page, typed):
    """The figures stay those of the last price, and the page says of which."""
    page = open_page()
    page.fill("#reject", "0.4")
    cost = shown(page, "live-cost")
    assert not page.locator(".mistyped").filter(visible=True).all()
    page.fill("#reject", typed)
    assert shown(page, "reject-mistyped") == "Not a number above 0: the figures are still those for 0.4."
    assert page.get_attribute("#reject", "aria-invalid") == "true"
    assert shown(page, "live-cost") == cost
    mends = {
        "-1": lambda: page.fill("#reject", "0.2"),
        "0": lambda: page.locator("#reject-slider").fill("-20"),
        "": lambda: page.click("#reset"),
    }
    mends[typed]()
    assert not page.locator(".mistyped").filter(visible=True).all()
    assert page.get_attribute("#reject", "aria-invalid") == "false"


def test_no_cost_is_below_0_or_above_the_dearest_price(open_page):
    """However much wider an interval is because cases belong together."""
    page = open_page()
    few = [[[20, 0, 6, 0], [1, 2, 0, 0]], [[0, 0, 0, 0], [3, 0, 0, 0]]]
    whole = page.evaluate("few => few.map(matrix => costInterval(matrix, current(), 30))", few)
    assert [whole[0][1], whole[1][2]] == [0, 5]
    segments = page.evaluate(
        "few => few.map(matrix => segmentRecord('a', 'b', matrix, few[0], current(), 30, null, null))", few
    )
    assert [segments[0]["cost_low"], segments[1]["cost_high"]] == [0, 5]


@pytest.mark.parametrize("size", SIZES)
def test_the_best_methods_are_shown_and_the_others_on_request(open_page, full, size):
    page = open_page(size)
    rows = page.locator("#leaderboard tbody tr")
    visible = [row.get_attribute("data-method") for row in rows.all() if row.is_visible()]
    models = [row.name for row in full.rows if row.name in full.answers]
    kept = {*models[:5], "today", full.verdict.chosen, full.verdict.best_model}
    assert kept <= set(visible)
    assert not set(models[5:]) - kept & set(visible)
    assert rows.count() == len(full.rows) > len(visible)
    drawn = page.locator("#legend li").count()
    assert drawn < len(models)
    for index in (0, 1):  # by either button, and back
        page.locator("button.unfold").nth(index).click()
        assert all(button.get_attribute("aria-expanded") == "true" for button in page.locator("button.unfold").all())
        assert page.locator("#leaderboard tbody tr:visible").count() == len(full.rows)
        assert page.locator("#legend li").count() == len(models)
        page.wait_for_function(
            "count => document.querySelectorAll('#price-table tbody tr').length === count", arg=len(models)
        )
        page.locator("button.unfold").nth(1 - index).click()
        assert page.locator("#legend li").count() == drawn
    folded = next(name for name in models if name not in visible)
    page.select_option("#choice", folded)  # what is chosen is shown
    assert page.locator("#legend li").count() == drawn + 1


def test_one_poor_method_does_not_squash_the_others(open_page, full):
    page = open_page()
    page.locator("button.unfold").first.click()
    poor, best = full.row("poor").cost.value, full.winner.cost.value
    assert poor > 4 * best
    page.wait_for_selector("#chart-costs svg text:has-text('→')")
    assert page.locator("#costs-cut").is_visible()
    tops = page.evaluate("Object.fromEntries(Object.entries(chartData(showFigures())).map(([k, v]) => [k, topOf(v)]))")
    drawn = page.evaluate("chartData(showFigures()).price.curves.map(row => row.y)")
    assert tops["price"] < max(drawn)
    assert tops["price"] < 4 * max(full.row(row.name).cost.value for row in full.rows[:5])
    page.wait_for_function("!document.getElementById('curves-cut').hidden")


@pytest.mark.parametrize("size", SIZES)
def test_thresholds_lead_to_their_counts(open_page, full, size):
    page = open_page(size)
    page.select_option("#choice", "logistic-chow")
    p, positive = full.answers["logistic-chow"].score[0], full.positive
    rows = page.locator("#threshold-table tbody tr")
    assert rows.count() > 4
    assert page.locator("#threshold-table tr[aria-current]").count() == 1
    for row in rows.all():
        lower = row.locator("th").inner_text().split("\n")[0].split(" here")[0].strip()
        upper, answered, _, misses, alarms, *_ = row.locator("td").all_inner_texts()
        if "never" in (lower, upper):
            continue
        # The page shows three digits; cases closer than that to a threshold may be on either side.
        no, yes = p < float(lower), p > float(upper)
        near = (np.abs(p - float(lower)) < 0.005 * float(lower) + 1e-9) | (np.abs(p - float(upper)) < 0.005)
        assert number(answered) == pytest.approx(100 * (no | yes).mean(), abs=100 * near.mean() + 0.06)
        assert number(misses) == pytest.approx((no & positive).sum(), abs=int(near.sum()))
        assert number(alarms) == pytest.approx((yes & ~positive).sum(), abs=int(near.sum()))
    before = rows.all_inner_texts()
    page.fill("#fn", "50")
    assert rows.all_inner_texts() != before


def test_reliability_follows_the_method(open_page, summary):
    page = open_page()
    for name in ("naive", "logistic-chow", "logistic-tuned", "tree"):
        page.select_option("#choice", name)
        bins = summary["reliability"][name]["bins"]
        table = page.locator("#reliability-table tbody tr")
        assert table.count() == len(bins)
        counts = page.locator("#reliability-table tbody tr td:nth-child(4)").all_text_contents()
        assert sum(map(number, counts)) == summary["n_cases"]
    page.evaluate("delete summary.reliability.naive")  # as of a method without probabilities
    page.select_option("#choice", "naive")
    assert page.locator("#reliability-none").is_visible()
    assert not page.locator("#chart-reliability").is_visible()


def test_today_s_policy_is_counted_beside_the_methods(open_page, full):
    page, table = open_page(), decided()
    matrix = (
        pd.crosstab(table["default"], table["=decision"]).loc[["good", "bad"], ["good", "bad", "review"]].to_numpy()
    )
    cells = page.locator("#today-matrix tbody td").all_inner_texts()
    assert [number(cell) for cell in cells] == matrix.ravel().tolist()
    cost = (matrix[0, 1] * 1 + matrix[1, 0] * 5 + matrix[:, 2].sum() * 0.3) / matrix.sum()
    row = page.locator("#leaderboard tr[data-method=today]")
    assert number(row.locator("td").nth(0).inner_text()) == pytest.approx(cost, abs=6e-5)
    assert full.row("today").cost.value == pytest.approx(cost)
    assert full.conclusions["today"] in page.locator(".questions").inner_text()
    assert "=decision" not in full.cases.features.columns


def test_how_sure_the_choice_is(open_page, full):
    page, shares = open_page(), full.verdict.shares
    assert sum(shares.values()) == pytest.approx(1)
    assert f"{shares[full.verdict.best_model]:.1%} of 200 draws" in shown(page, "sure")
    assert page.locator("#choice-shares tbody tr").count() == len(shares)


def downloaded(page, table_id):
    page.evaluate(
        "id => { const part = document.getElementById(id).closest('details'); if (part) part.open = true; }", table_id
    )
    button = page.locator(f".scroll:has(#{table_id}) + button.download")
    with page.expect_download() as waiting:
        button.click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        return waiting.value.suggested_filename, list(csv.reader(io.StringIO(file.read())))


def test_every_table_can_be_downloaded(open_page, full, summary):
    page = open_page(accept_downloads=True)
    page.select_option("#choice", "logistic-chow")  # it has probabilities
    tables = page.locator("table[data-download]").evaluate_all("tables => tables.map(table => table.id)")
    assert {"leaderboard", "money", "segments-0", "rejected", "threshold-table", "curve-table"} <= set(tables)
    named = page.locator("main table:not([data-download])").count()
    assert named == 0
    for position, table in enumerate(tables):
        if position % 8 == 7:  # browsers stop a page that downloads ten files in a row
            page = open_page(accept_downloads=True)
            page.select_option("#choice", "logistic-chow")
        name, rows = downloaded(page, table)
        assert name.endswith(".csv")
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1, table
    page = open_page(accept_downloads=True)
    _, rows = downloaded(page, "leaderboard")
    assert rows[0] == list(full.rows[0].as_dict())
    assert float(rows[1][rows[0].index("cost")]) == pytest.approx(full.rows[0].cost.value)
    _, rows = downloaded(page, "segments-0")
    assert [row[1] for row in rows[1:]] == [item.label for item in full.segments if item.column == "region"]


def test_a_downloaded_table_runs_nothing_in_a_spreadsheet(open_page):
    page = open_page()
    fields = page.evaluate("['=1+1', '-3.5', '+', ' @x', 'a,b', 'say \"x\"', null, -2].map(csvField)")
    assert fields == ["'=1+1", "-3.5", "+", "' @x", '"a,b"', '"say ""x"""', "", "-2"]


def test_every_picture_has_a_table_behind_it(open_page, summary):
    page = open_page()
    assert page.locator("#curve-table tbody tr").count() >= 4
    for row in page.locator("#price-table tbody tr").all():
        title, cost = row.locator("th").text_content(), row.locator("td").nth(2).text_content()
        method = next(method for method in summary["methods"] if method["title"] == title)
        at_run = page.evaluate(
            "points => matrixCost(cheapestPoint(points, current()).matrix, current())", method["points"]
        )
        assert number(cost) == pytest.approx(at_run, abs=6e-4)
    for chart in page.locator(".chart").all():
        assert re.search("figures are in|gives the figures", chart.get_attribute("aria-label"))


def test_on_a_phone_nothing_is_cut_off(open_page):
    """No table is wider than its frame, so that no number is cut in the middle."""
    page = open_page("phone")
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.locator("button.unfold").first.click()
    too_wide = page.locator(".scroll").evaluate_all(
        "frames => frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1).map(frame => frame.ariaLabel)"
    )
    assert too_wide == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    label = page.locator("#leaderboard tbody td").nth(1).evaluate("cell => getComputedStyle(cell, '::before').content")
    assert label.startswith('"More than the best')
    page.locator("#leaderboard thead th").nth(3).get_by_role("button").click()  # sorting works there, too
    assert page.locator("#leaderboard thead th").nth(3).get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("size", SIZES)
def test_the_operating_point_of_now_is_in_sight_in_its_box(open_page, size):
    """A long table is scrolled to the row marked, and the page stays where it is."""
    page = open_page(size)
    in_sight = """() => { const box = document.querySelector("[aria-label=Thresholds]").getBoundingClientRect();
        const row = document.querySelector("#threshold-table tr.winner").getBoundingClientRect();
        return row.top >= box.top - 1 && row.bottom <= box.bottom + 1; }"""
    page.wait_for_function(in_sight)
    for price in ("0.02", "0.9"):
        page.locator("#reject").evaluate("(box, price) => { box.value = price; }", price)
        page.locator("#reject").dispatch_event("input")
        page.wait_for_function(in_sight)
    assert page.evaluate("window.scrollY") == 0


def test_on_a_phone_names_beside_the_picture_of_costs_are_whole(open_page):
    page = open_page("phone")
    words = page.locator("#chart-costs svg .role-axis-label").all_text_contents()
    assert "Manual review of every" in " ".join(words)
    assert not [text for text in words if "\N{HORIZONTAL ELLIPSIS}" in text]


@pytest.mark.parametrize("width", [1200, 1280])
def test_on_a_small_desktop_no_table_is_wider_than_the_page(open_page, width):
    page = open_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    too_wide = page.locator(".scroll").evaluate_all(
        "frames => frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1).map(frame => frame.ariaLabel)"
    )
    assert too_wide == []


def test_today_by_segment_follows_the_prices(open_page, full):
    page = open_page()
    record, segment = page.evaluate("shownSegments.region[0]"), full.segments[0]
    assert [record[name] for name in ("today_cost", "today_saved", "today_saved_low")] == pytest.approx(
        [segment.today.cost.value, segment.today.saved.value, segment.today.saved.low]
    )
    cells = page.locator("#segments-today-0 tbody tr").nth(0).locator("td").all_inner_texts()
    assert numbers(cells[3])[0] == pytest.approx(segment.today.saved.value, abs=6e-4)
    dearer = recuse.Costs(1, 40, 0.3)
    inside, truth = full.cut_columns[0].codes == 0, full.truth
    today = Payments.of(full.today.columns, truth, dearer).prices[inside].mean()
    page.fill("#fn", "40")
    page.wait_for_function("() => byId('segments-basis').textContent.includes('a miss 40')")
    record = page.evaluate("shownSegments.region[0]")
    assert record["today_cost"] == pytest.approx(today)
    assert record["today_saved"] == pytest.approx(today - record["cost"])
    assert list(record) == list(segment.as_dict())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_print_after_a_slider_was_moved_says_which_prices(open_page, full, scheme):
    page = open_page(color_scheme=scheme)
    page.fill("#fn", "40")
    page.emulate_media(media="print", color_scheme=scheme)
    assert not page.locator("#controls").is_visible()
    for part in page.locator(".prices-now").all():
        assert part.is_visible()
        assert "Not at the prices of the run, but at these: a false alarm 1, a miss 40" in part.inner_text()
    # The page to print is about the run, whatever was moved.
    summary = page.locator("#one-page")
    assert summary.is_visible()
    assert "a miss 5," in summary.inner_text()
    assert f"{full.winner.cost.value:.4f}" in summary.inner_text()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_one_page_is_one_page(open_page, full):
    page = open_page()
    page.evaluate("window.print = () => { window.printed = document.documentElement.dataset.print; }")
    page.click("#print-summary")
    assert page.evaluate("window.printed") == "summary"
    page.emulate_media(media="print")
    assert not page.locator("main").is_visible()
    text = page.locator("#one-page").inner_text()
    for sentence in full.conclusions.values():
        assert sentence in text
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("main").is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) > 1
    page.evaluate("window.print = () => { window.printed = 'all'; }")
    page.emulate_media(media="screen")
    page.click("#print-all")
    assert page.evaluate("window.printed") == "all"


@pytest.mark.parametrize("size", SIZES)
def test_segments_are_those_of_the_library(open_page, full, size):
    page = open_page(size)
    assert page.locator("#served-worse li").all_inner_texts() == [s.sentence for s in full.segments if s.sentence]
    rows = page.locator("#segments-0 tbody tr").all()
    segments = [segment for segment in full.segments if segment.column == "region"]
    for row, segment in zip(rows, segments, strict=True):
        cells = row.locator("td").all_inner_texts()
        assert number(cells[0]) == segment.cases
        assert numbers(cells[2]) == pytest.approx(list(segment.cost), abs=6e-4)
        assert numbers(cells[4]) == pytest.approx([100 * part for part in segment.coverage], abs=0.051)
    heading = page.locator("#segments-0 thead th").nth(3)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
