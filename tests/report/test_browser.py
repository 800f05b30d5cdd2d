"""The page in a real browser, from disk, without a network."""

import os
import re
import shutil
import time
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from recuse import Costs
from recuse.comparison import METHODS
from recuse.metrics import (
    coverage_score,
    expected_cost,
    reject_confusion_matrix,
    rejection_rate,
    selective_accuracy_score,
)
from tests.processes import LIMIT

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'recuse[test]'")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")

# As root in a closed network: no sandbox, and nothing that calls home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, page_file):
    """Open the page; at the end nothing may have been complained of or asked for."""
    complaints, requests, contexts = [], [], []

    def open_it(size="desktop", **options):
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * LIMIT)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def read_thresholds(written):
    """Thresholds of an operating point, as the page has them."""
    ends = ({None: -np.inf, "always": np.inf}, {None: np.inf, "always": -np.inf})
    return tuple(end.get(cut, cut) for end, cut in zip(ends, written, strict=True))


def shown(page, name):
    return page.locator(f"#{name}").inner_text()


def trained_at(summary):
    return Costs(*(summary["prices"][key] for key in ("fp", "fn", "reject")))


def number(text):
    return float(re.match(r"-?[\d,.]+", text).group().replace(",", ""))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opens_without_a_word_and_fits_the_screen(open_page, size, scheme, tmp_path):
    page = open_page(size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".chart svg").count() == 7  # four charts, two shape functions, and what probabilities mean
    for i in range(7):
        box = page.locator(".chart svg").nth(i).bounding_box()
        assert box["width"] > 200
        assert box["x"] + box["width"] <= SIZES[size][0]
    paper, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    light = [sum(map(int, re.findall(r"\d+", colour))) for colour in (paper, ink)]
    assert (light[0] > light[1]) == (scheme == "light")
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 20_000


def test_no_two_methods_look_alike_and_the_chosen_one_stands_out(open_page, summary):
    page = open_page()
    strokes = page.locator("#legend span").evaluate_all("spans => spans.map(span => span.style.borderTop)")
    assert len(strokes) == len(set(strokes)) == len(summary["methods"])
    for name in ("pair", "logistic-chow"):
        page.select_option("#choice", name)
        page.wait_for_function(
            """() => [...document.querySelectorAll("#chart-risk .mark-line path")]
                .filter(path => Number(path.getAttribute("stroke-width")) > 3).length === 1"""
        )


def test_the_colours_suffice_for_the_kinds_of_models():
    kinds = {method.title.split(", ")[0] for method in METHODS}
    style = (resources.files("recuse.report") / "templates" / "style.css").read_text()
    assert len(kinds) <= len(set(re.findall(r"--c\d", style)))


def cost_of(matrix, costs):
    return float((np.array(matrix) * costs.matrix()[:2]).sum() / np.sum(matrix))


def test_starts_with_the_figures_of_the_run(open_page, comparison):
    page = open_page()
    best = comparison.row(comparison.verdict.best_model)
    assert shown(page, "live-cost").split()[0] == f"{best.cost.value:.4f}"
    assert shown(page, "live-coverage") == f"{best.coverage:.1%}"
    assert "prices of the run" in shown(page, "prices-state")
    assert page.locator("#leaderboard tbody tr").count() == len(comparison.rows)


def test_tiles_show_the_savings_of_the_sentences_beside_those_of_the_run(open_page, comparison):
    """At the prices of the run and for the model chosen; at other prices nothing is corrected."""
    page, verdict = open_page(), comparison.verdict
    corrected = {
        "live-cost": f"{verdict.model_cost.value:.4f}",
        "live-answering": f"{1000 * verdict.answering.saved.value:.1f}",
        "live-rejecting": f"{1000 * verdict.rejecting.saved.value:.1f}",
    }
    for tile, value in corrected.items():
        assert f"{value} corrected for the choice" in shown(page, tile)
    page.fill("#reject", "0.29")
    assert not any("corrected" in shown(page, tile) for tile in corrected)
    page.click("#reset")
    other = next(method for method in comparison.answers if method != verdict.best_model)
    page.select_option("#choice", other)
    assert not any("corrected" in shown(page, tile) for tile in corrected)


def test_curves_are_those_of_the_operating_points(open_page, comparison):
    page = open_page()
    page.fill("#reject", "0.2")
    drawn = page.evaluate("costData(current())")
    stands = page.evaluate("Object.fromEntries(rejecting().map(m => [m.title, costAt(m, current())]))")
    review = page.evaluate("sendAllCost(current())")
    for title, cost in stands.items():
        curve = [row["y"] for row in drawn if row["title"] == title]
        assert curve[0] == pytest.approx(review)
        assert min(curve[1:]) == pytest.approx(cost)
    table = page.locator("#curve-table tbody tr").all_inner_texts()
    assert len(table) == len(stands)
    # Between two points some cases are decided at one and some at the other.
    mixed = page.evaluate(
        """() => { const points = path(rejecting()[0], current()), [a, b] = points.slice(-2).map(point => point.matrix);
             const share = (matrixCoverage(a) + matrixCoverage(b)) / 2;
             const cost = matrix => matrixCost(matrix, current());
             return [cost(matrixAt(points, share)), (cost(a) + cost(b)) / 2]; }"""
    )
    assert mixed[0] == pytest.approx(mixed[1])


def test_moving_a_slider_gives_the_library_s_figures(open_page, comparison, summary, table):
    page = open_page()
    page.select_option("#choice", "logistic-chow")
    before = shown(page, "live-cost")
    page.locator("#reject-slider").focus()
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    page.locator("#fn-slider").fill("20")
    prices = {name: float(page.input_value(f"#{name}")) for name in ("fp", "fn", "reject")}
    assert prices["reject"] == pytest.approx(0.3 * 10**-0.3, rel=0.01)
    assert prices["fn"] == pytest.approx(3 * 10**0.2, rel=0.01)
    costs = Costs(**prices)
    p = comparison.answers["logistic-chow"].score[0]
    method = next(method for method in summary["methods"] if method["name"] == "logistic-chow")
    point = min(method["points"], key=lambda point: cost_of(point["matrix"], costs))
    lower, upper = read_thresholds(point["thresholds"])
    labels = np.where(p > upper, "bad", np.where(p < lower, "good", "[abstain]"))
    y, known = table["default"].to_numpy(), {"reject_label": "[abstain]", "labels": ["good", "bad"]}
    assert shown(page, "live-cost") != before
    assert number(shown(page, "live-cost")) == pytest.approx(
        expected_cost(y, labels, costs=costs, pos_label="bad", **known), abs=6e-5
    )
    # Halves of the last digit may be rounded up or down.
    answered, wrong = 100 * coverage_score(y, labels, **known), 100 * (1 - selective_accuracy_score(y, labels, **known))
    assert number(shown(page, "live-coverage")) == pytest.approx(answered, abs=0.0501)
    assert number(shown(page, "live-error")) == pytest.approx(wrong, abs=0.0501)
    assert number(shown(page, "live-review")) == round(1000 * rejection_rate(y, labels, **known))
    matrix = reject_confusion_matrix(y, labels, **known)
    found = [[number(shown(page, f"m{i}{j}")) for j in range(3)] for i in range(2)]
    assert found == matrix.tolist()
    assert "Not the prices of the run" in shown(page, "prices-state")
    page.click("#reset")
    assert shown(page, "live-cost") == before


def test_every_method_at_many_prices(open_page, summary):
    page = open_page()
    rng = np.random.default_rng(1)
    prices = [
        (float(fp), float(fn), float(reject), float(ratio))
        for fp, fn, reject, ratio in zip(
            rng.uniform(0.2, 4, 40),
            rng.uniform(0.2, 9, 40),
            rng.uniform(0.02, 1, 40),
            rng.choice([1.0, 1.7], 40),
            strict=True,
        )
    ]
    found = page.evaluate(
        """prices => summary.methods.map(method => prices.map(([fp, fn, reject, ratio]) => {
             const p = priceList(fp, fn, reject, ratio, 1.3);
             const matrix = cheapestPoint(method.points, p).matrix;
             return [matrixCost(matrix, p), matrixCost(cheapestPoint(method.forced, p).matrix, p), p.pays];
        }))""",
        prices,
    )
    seen = set()
    for method, rows in zip(summary["methods"], found, strict=True):
        for (fp, fn, reject, ratio), (cost, forced, pays) in zip(prices, rows, strict=True):
            costs = Costs(
                fp=fp, fn=fn, reject_negative=reject, reject_positive=reject * ratio, reject_novelty=1.3 * reject
            )
            assert cost == pytest.approx(min(cost_of(point["matrix"], costs) for point in method["points"]))
            assert forced == pytest.approx(min(cost_of(point["matrix"], costs) for point in method["forced"]))
            assert pays == costs.rejecting_pays
            seen.add((method["moves"], costs.rejecting_pays))
    assert len(seen) == 8  # four ways to follow the prices, with and without a reason to reject


def test_costs_scale_with_the_prices_and_never_jump(open_page):
    """In the browser as in the library: prices times 2, 0.01 and 100; a review that becomes cheaper."""
    page = open_page()
    assert page.evaluate(
        """() => summary.methods.every(method => [0.03, 0.1, 0.3, 0.5, 0.9, 2].every(reject => {
             const cost = (unit, review) => costAt(method, pricesAt(unit * run.fp, unit * run.fn, unit * review));
             const once = cost(1, reject), rise = cost(1, 1.001 * reject) - once;
             return [2, 0.01, 100].every(unit => Math.abs(cost(unit, reject) / (unit * once) - 1) < 1e-9)
               && rise >= -1e-12 && rise <= 0.001 * reject * Math.max(1, run.reject_ratio) + 1e-12;
        }))"""
    )


def test_typed_prices_and_prices_that_never_pay(open_page):
    page = open_page()
    page.fill("#reject", "40")
    assert page.locator("#never").is_visible()
    assert shown(page, "live-review") == "0"
    page.fill("#reject", "0.1")
    assert not page.locator("#never").is_visible()
    page.fill("#reject", "-1")  # not a price: nothing changes
    assert page.evaluate("prices.reject") == 0.1


def test_every_slider_at_both_ends(open_page, summary):
    """The figures of every method are the library's there too, and say what moved."""
    page = open_page()
    run = summary["prices"]
    for name in ("fp", "fn", "reject"):
        for position, factor in (("-100", 0.1), ("100", 10.0)):
            page.locator(f"#{name}-slider").fill(position)
            prices = {key: run[key] for key in ("fp", "fn", "reject")}
            prices[name] = float(f"{prices[name] * factor:.3g}")
            costs = Costs(**prices)
            assert page.locator("#never").is_visible() == (not costs.rejecting_pays)
            for method in summary["methods"]:
                page.select_option("#choice", method["name"])
                point = min(method["points"], key=lambda point, costs=costs: cost_of(point["matrix"], costs))
                matrix, cost = np.array(point["matrix"]), cost_of(point["matrix"], costs)
                assert number(shown(page, "live-cost")) == pytest.approx(cost, abs=6e-4 if cost >= 1 else 6e-5)
                answered = 100 * matrix[:, :2].sum() / matrix.sum()  # half a digit may be rounded up or down
                assert number(shown(page, "live-coverage")) == pytest.approx(answered, abs=0.0501)
                assert "a new run at these prices" in shown(page, "what-moves")
                assert ("go to manual review at every price" in shown(page, "what-moves")) == (matrix[:, 3].sum() > 0)
            page.click("#reset")


def test_novelties_have_their_own_column(open_page, summary):
    page = open_page()
    page.select_option("#choice", "pair")
    pair = next(method for method in summary["methods"] if method["name"] == "pair")
    found = [[number(shown(page, f"m{i}{j}")) for j in range(4)] for i in range(2)]
    own = pair["points"][0]["matrix"]
    assert found == own
    novel = sum(row[3] for row in own)
    assert f"{round(1000 * novel / summary['n_cases'])} of them unlike any seen" in shown(page, "live-review")
    # Nothing jumps at the prices of the run.
    drawn = page.evaluate("priceData(current()).filter(row => row.title === 'Pair of scores')")
    at_run = [row["y"] for row in drawn if row["x"] == summary["prices"]["reject"]]
    assert at_run == pytest.approx([cost_of(own, trained_at(summary))])


def test_the_page_of_a_booster_draws_its_shape_functions(browser, table, tmp_path):
    from recuse import compare
    from recuse.comparison import write_report
    from recuse.report import summarize

    result = compare(table, "default", positive="bad", costs=0.2, methods=["abstention-boosting"], cv=2, repeats=1)
    write_report(result, tmp_path / "report.html")
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=1000 * LIMIT)
    why = summarize(result, result.model())["why"]
    assert page.locator("[id^=shape-] svg").count() == len(why["shapes"]) > 0
    assert page.locator("[id^=shape-] >> text=acceptance score").count() == len(why["shapes"]) * why["own_acceptance"]
    assert [shown.split("\n")[0] for shown in page.locator(".charts.small figcaption").all_inner_texts()] == [
        shape["feature"] for shape in why["shapes"]
    ]
    page.close()
    assert complaints == []


# What a page must show as it is, wherever it stands: in names of columns and files, in labels and in values.
HOSTILE = [
    '<img src=x onerror="window.ran=1">',
    "</script><script>window.ran=1</script>",
    "\"'><svg onload=window.ran=1>",
    "${window.ran=1}{{ 7 * 7 }}",
    "javascript:window.ran=1",
    "<!--<script>",
    "datum['x'].y\\[0]",
]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    from recuse import compare
    from recuse.comparison import write_report

    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({name: rng.normal(size=n) for name in HOSTILE})
    frame[f"{HOSTILE[0]} value"] = rng.choice(HOSTILE, n)
    y = frame[HOSTILE].sum(axis=1) + rng.normal(size=n) > 0
    frame[HOSTILE[1] + "y"] = np.where(y, HOSTILE[0], HOSTILE[1])
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / (HOSTILE[0] + HOSTILE[3] + ".csv")
    frame.to_csv(path, index=False)
    methods = ["logistic-chow", "abstention-boosting"]
    result = compare(path, HOSTILE[1] + "y", positive=HOSTILE[0], costs=0.2, methods=methods, cv=2)
    write_report(result, folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def watched(browser):
    """A page, what it complains of, and what it asks for."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request))
    yield page, complaints, requests
    context.close()


def test_hostile_names_labels_and_values_are_shown_and_nothing_runs(watched, hostile_page):
    page, complaints, requests = watched
    page.goto(hostile_page.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=1000 * LIMIT)
    for name in page.locator("#choice option").evaluate_all("options => options.map(option => option.value)"):
        page.select_option("#choice", name)
    page.fill("#fn", "3")
    page.locator("thead th button").evaluate_all("buttons => buttons.forEach(button => button.click())")
    text = page.locator("body").inner_text()
    assert sum(name in text for name in HOSTILE) >= 4
    assert HOSTILE[3] in page.title()
    assert page.evaluate("window.ran") is None
    assert page.locator("body img, body svg[onload], body script[src], iframe").count() == 0
    assert complaints == []
    urls = {request.url for request in requests}
    assert [url for url in urls if not url.startswith(("data:", "blob:"))] == [hostile_page.as_uri()]


@pytest.mark.parametrize(
    "injected",
    [
        "<img src='https://example.org/x.png' onerror='window.ran=1'>",
        "<svg onload='window.ran=1'></svg>",
        "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
        "<a href='javascript:window.ran=1' id=link>x</a>",
        "<form action='https://example.org'><button id=link>x</button></form>",
    ],
)
def test_the_policy_holds_even_if_something_gets_in(watched, page_file, injected):
    page, complaints, requests = watched
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=1000 * LIMIT)
    assert complaints == []
    page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", injected)
    if "link" in injected:
        page.evaluate("document.getElementById('link').click()")
    deadline = time.monotonic() + LIMIT
    while not complaints and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert any("Content Security Policy" in complaint for complaint in complaints)
    assert page.evaluate("window.ran") is None
    assert page.url == page_file.as_uri()
    asked = [request for request in requests if request.url.startswith("http")]
    assert all("csp" in (request.failure or "").lower() for request in asked)  # by the policy, not by the network


def test_no_script_may_be_compiled_from_text(page_file):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page_file.read_text()).group(1)
    assert "default-src &#39;none&#39;" in policy
    scripts = re.search("script-src ([^;]*(?:&#39;[^;]*)*?); style", policy).group(1)
    assert "unsafe" not in scripts
    assert scripts.count("sha256-") == 3


def test_a_column_of_two_values_has_these_on_its_axis(open_page):
    page = open_page()
    axes = page.locator("#shape-1 svg .mark-text.role-axis-label").all()
    ticks = [axis.locator("text").all_text_contents() for axis in axes]
    assert ["0", "1"] in ticks


def test_charts_follow_the_prices(open_page):
    page = open_page()
    drawn = page.locator("#chart-cost svg").inner_html()
    page.fill("#fn", "30")
    page.wait_for_function("before => document.querySelector('#chart-cost svg').innerHTML !== before", arg=drawn)
    assert page.locator("#curve-table tbody tr").count() == 5


@pytest.mark.parametrize("table_id", ["rejected", "leaderboard", "differences"])
def test_tables_sort(open_page, table_id):
    page = open_page()
    column = {"rejected": 0, "leaderboard": 3, "differences": 1}[table_id]
    read = (
        f"""() => [...document.querySelectorAll('#{table_id} tbody tr')].map(row => sortValue(row.cells[{column}]))"""
    )
    heading = page.locator(f"#{table_id} thead th").nth(column)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    rising = page.evaluate(read)
    assert rising == sorted(rising)
    assert len(rising) > 2
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert page.evaluate(read) == rising[::-1] or page.evaluate(read) == sorted(rising, reverse=True)


def test_a_screen_reader_finds_its_way(open_page):
    page = open_page()
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("main h2").count() == 6
    for control in page.locator("#controls input, #controls select").all():
        label = (
            control.get_attribute("aria-label")
            or page.locator(f"label[for={control.get_attribute('id')}]").inner_text()
        )
        assert label
    for chart in page.locator(".chart").all():
        assert chart.get_attribute("role") == "img" or chart.get_attribute("aria-label")
        assert len(chart.get_attribute("aria-label")) > 15
    assert page.evaluate("[...document.querySelectorAll('thead th')].every(th => th.scope === 'col')")
    assert page.evaluate("[...document.querySelectorAll('tbody th')].every(th => th.scope === 'row')")
    assert page.get_by_role("status").count() >= 1


def test_prints(open_page, tmp_path):
    page = open_page()
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert page.locator("#chart-cost svg").is_visible()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    # A4 less its margins: no table is cut off on paper.
    page.set_viewport_size({"width": 718, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_leaderboard_shows_counts_bounds_and_the_corrected_cost(open_page, comparison):
    page = open_page()
    for row in comparison.rows:
        cells = page.locator(f"#leaderboard tr[data-method={row.name}] td").all_inner_texts()
        counts, n = row.counts, len(comparison.positive)
        assert f"{counts.answered:.0f} of {n}" in cells[2]
        if counts.answered:
            assert f"{counts.right:.0f} of {counts.answered:.0f}" in cells[3]
        for cell, errors in ((cells[4], counts.misses), (cells[5], counts.false_alarms)):
            assert ("*" in cell) == (errors.value < 10 and errors.high > 0)
            assert (f"up to {errors.high:.1f}" in cell) == (errors.value == 0 and errors.high > 0)
        assert ("recall" in cells[4]) == (counts.positives > 0)
    value, low, high = comparison.verdict.cost
    corrected = shown(page, "corrected")
    assert comparison.winner.title in corrected
    assert f"{value:.4f}" in corrected
    assert f"[{low:.4f}, {high:.4f}]" in corrected
    # It is no method among the others: sorting leaves it where it is.
    page.locator("#leaderboard thead th").nth(1).get_by_role("button").click()
    assert page.locator("#leaderboard tbody tr").count() == len(comparison.rows)
