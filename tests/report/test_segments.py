"""Segments follow the prices: the page's counts and its test against those of the library."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import recuse
from recuse import Costs
from recuse.comparison.payments import Payments
from recuse.comparison.segments import segments_of
from recuse.comparison.served_worse import RATE
from recuse.report import summarize
from recuse.report.methods import followed
from recuse.report.operating_points import WAYS, columns_at
from recuse.report.segments import answer_kinds
from recuse.tables import cut_into_segments
from tests.report.test_browser import CHROMIUM, SIZES, browser, number, read_thresholds
from tests.report.test_controls import decided, downloaded, full_file, numbers, open_page
from tests.report.test_operating_points import RUN, make_answers

__all__ = ["browser", "full_file", "open_page"]
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")


@pytest.fixture(scope="module")
def full():
    """A comparison with segments by two columns."""
    own = [("tree", DecisionTreeClassifier(min_samples_leaf=20, random_state=0)), ("poor", GaussianNB())]
    options = {"methods": ["logistic-chow", *own], "cv": 3, "repeats": 1, "by": ["region", "age"], "n_jobs": 1}
    return recuse.compare(
        decided().drop(columns="=decision"), "default", positive="bad", costs=recuse.Costs(1, 5, 0.3), **options
    )


@pytest.fixture(scope="module")
def summary(full):
    return summarize(full, full.model())


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("moves", WAYS)
def test_the_segments_of_every_point_add_up_to_its_counts(moves, repeats):
    answers, positive = make_answers(moves, repeats=repeats, novel=0.1 if moves != "no-reject" else 0.0)
    town = cut_into_segments(pd.Series(np.random.default_rng(0).choice(list("abc"), len(positive)), name="town"))
    comparison = SimpleNamespace(
        answers={"it": answers},
        method=lambda name: SimpleNamespace(moves=moves, cuts_probabilities=moves in ("no-reject", "chow")),
        positive=positive,
        costs=RUN,
        arguments=SimpleNamespace(by=["town"]),
        cut_columns=[town],
        widening=lambda name: 1.0,
    )
    found = followed(comparison, "it")
    assert found["repeats"] == repeats
    assert len(found["points"]) > 4
    for point in found["points"]:
        counts = np.reshape(point["segments"]["town"], (-1, 2, 4))
        assert counts.shape[0] == len(town.labels)
        np.testing.assert_allclose(counts.sum(axis=0) / repeats, point["matrix"], atol=1e-9)
        np.testing.assert_array_equal(counts.sum(axis=(1, 2)), repeats * np.bincount(town.codes))
        if repeats == 1:
            assert point["kinds"] is None
            continue
        kinds = np.array(point["kinds"])
        assert (kinds[:, 1:5].sum(axis=1) == repeats).all()
        for outcome in (0, 1):
            mine = kinds[kinds[:, 0] == outcome]
            np.testing.assert_allclose(mine[:, 5] @ mine[:, 1:5] / repeats, point["matrix"][outcome], atol=1e-9)


def test_cases_are_put_together_by_how_often_they_were_answered_how():
    columns = np.array([[0, 0, 2, 1], [0, 2, 0, 1]])
    assert answer_kinds(columns, np.array([False, False, False, True])) == [
        [0, 1, 0, 1, 0, 2],
        [0, 2, 0, 0, 0, 1],
        [1, 0, 2, 0, 0, 1],
    ]


def segments_at(full, summary, name, costs):
    """The library's segments of a method where it stands at these prices."""
    method = next(method for method in summary["methods"] if method["name"] == name)
    unit = costs.matrix()[:2]
    position = int(np.argmin(np.round([(np.array(point["matrix"]) * unit).sum() for point in method["points"]], 9)))
    answers, cuts = full.answers[name], method["points"][position]["thresholds"]
    columns = answers.columns
    if position:
        columns = columns_at(answers, read_thresholds(cuts), method["moves"])
    payments = Payments.of(columns, full.positive, costs)
    return position, segments_of(full.cut_columns, payments, full.positive, seed=1)


@in_browser
@pytest.mark.parametrize("prices", [Costs(1, 5, 0.3), Costs(1, 40, 0.3), Costs(2, 3, 0.1)])
def test_figures_and_p_values_are_the_library_s(open_page, full, summary, prices):
    page = open_page()
    for name in ("logistic-chow", "tree", "poor"):
        _, segments = segments_at(full, summary, name, prices)
        script = """([name, ...numbers]) => {
            const p = pricesAt(...numbers), m = methods.find(m => m.name === name);
            return Object.values(segmentsAt(m, pointAt(m, p), p)).flat(); }"""
        records = page.evaluate(script, [name, prices.fp, prices.fn, prices.reject_negative])
        for record, segment in zip(records, segments, strict=True):
            expected = segment.as_dict()
            assert list(record) == list(expected)
            for key, value in expected.items():
                if key.startswith("p_"):  # both are estimates, from 999 and 1,999 exchanges
                    share = np.clip(value / 2, 0.005, 0.5)  # of the exchanges; two columns share the rate
                    spread = np.sqrt(share * (1 - share) * (1 / 999 + 1 / 1999))
                    assert record[key] == pytest.approx(value, abs=2 * 4.5 * spread)
                elif isinstance(value, float) and np.isnan(value):
                    assert record[key] is None
                elif key != "served_worse":
                    assert record[key] == (value if isinstance(value, str) else pytest.approx(value, 1e-6, 1e-7)), key


@in_browser
def test_the_page_raises_no_more_alarms_than_promised(open_page):
    """Of its own test: where cases are dealt out at random, an alarm in at most about 5 % of the tables."""
    page = open_page()
    script = """draws => {
        const p = pricesAt(1, 5, 0.3), random = randomNumbers(7), total = part => part.reduce((a, b) => a + b, 0);
        const pooled = [[180, 30, 40, 0], [12, 60, 28, 0]], sizes = [[100, 80, 50, 20], [20, 20, 30, 30]];
        const alone = k => [0, 1, 2, 3].map(j => Number(j === k));
        const kinds = pooled.map(row => row.map((cases, k) => ({ answers: alone(k), cases }))
            .filter(kind => kind.cases).sort((a, b) => a.cases - b.cases));
        const drawn = exchanged(sizes, kinds, randomNumbers(1)), logs = sizes.map(part => logFactorials(total(part)));
        let alarms = 0;
        for (let k = 0; k < draws; k += 1) {
          const sums = sizes.map((part, outcome) => {
            const found = new Float64Array(16);
            deal(part, kinds[outcome], logs[outcome], random, found);
            return found;
          });
          const segments = [0, 1, 2, 3].map(s => sums.map(part => [...part.slice(4 * s, 4 * s + 4)]));
          if (segments.some((rows, s) => rows.some((row, o) => Math.abs(total(row) - sizes[o][s]) > 1e-9))) return -1;
          if (servedWorse(segments, sizes, kinds, pooled, p, drawn, 1).flat().some(value => value <= 0.05)) alarms += 1;
        }
        return alarms / draws; }"""
    rate = page.evaluate(script, 400)
    assert 0.01 < rate < RATE + 3 * np.sqrt(RATE * (1 - RATE) / 400)


@in_browser
@pytest.mark.parametrize("size", SIZES)
def test_segments_follow_the_prices_and_come_back(open_page, full, summary, size):
    page = open_page(size)
    first = page.locator("#segments").locator("xpath=..").inner_text()
    heading = page.locator("#segments-1 thead th").nth(3)
    prices = Costs(1, 40, 0.3)
    page.select_option("#choice", "logistic-chow")
    page.fill("#fn", "40")
    page.wait_for_function("() => byId('segments-basis').textContent.startsWith('Not at the prices')")
    assert "a miss 40" in page.locator("#segments-basis").inner_text()
    position, segments = segments_at(full, summary, "logistic-chow", prices)
    assert position > 0
    rows = page.locator("#segments-0 tbody tr").all()
    assert len(rows) == len([segment for segment in segments if segment.column == "region"])
    for row, segment in zip(rows, segments, strict=False):
        cells = row.locator("td").all_inner_texts()
        assert number(cells[0]) == segment.cases
        assert numbers(cells[2]) == pytest.approx(list(segment.cost), abs=6e-4)
        assert numbers(cells[6]) == pytest.approx([100 * part for part in segment.review], abs=0.051)
    known = {segment.sentence for segment in segments if max(segment.p.values()) < 0.02 or segment.sentence}
    assert set(page.locator("#served-worse li").all_inner_texts()) <= known
    if size == "desktop":
        _, table = downloaded(page, "segments-0")
        assert float(table[1][table[0].index("cost")]) == pytest.approx(segments[0].cost.value)
    heading.get_by_role("button").click()  # a sorted table stays sorted
    page.fill("#fn", "20")
    page.wait_for_function("() => byId('segments-basis').textContent.includes('a miss 20')")
    costs = [number(text) for text in page.locator("#segments-1 tbody td:nth-child(4)").all_inner_texts()]
    assert costs == sorted(costs)
    page.select_option("#choice", "poor")
    page.wait_for_function("() => byId('segments-basis').textContent.includes('By poor')")
    page.select_option("#choice", full.verdict.best_model)
    page.click("#reset")
    page.wait_for_function("() => byId('segments-basis').textContent.startsWith('At the prices of the run')")
    heading.get_by_role("button").click()
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("#segments").locator("xpath=..").inner_text() == first


@in_browser
def test_printing_at_once_shows_segments_at_the_prices_moved_to(open_page):
    page = open_page()
    page.evaluate("""() => { byId("fn").value = 40; byId("fn").dispatchEvent(new Event("input"));
        window.dispatchEvent(new Event("beforeprint")); }""")
    assert "a miss 40" in page.locator("#segments-basis").inner_text()
    page.emulate_media(media="print")
    assert page.locator("#segments-basis").is_visible()


@in_browser
def test_where_cases_belong_together_the_warnings_stay_those_of_the_run(browser, full, tmp_path):
    from recuse.report import render

    found = summarize(replace_units(full), full.model())
    assert found["segments"]["together"]
    (tmp_path / "page.html").write_text(render(found), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert not page.locator("#segments-kept").is_visible()
    page.fill("#fn", "40")
    page.wait_for_function("() => byId('segments-basis').textContent.includes('a miss 40')")
    assert page.locator("#segments-kept").is_visible()
    assert page.locator("#served-worse strong").inner_text().startswith("At the prices of the run")
    assert page.locator("#segments-0 tr.worse").count() == 0
    page.close()


def replace_units(full):
    """The same comparison, of cases that belong together in pairs."""
    from recuse.comparison.result import Comparison

    class Together(Comparison):
        units = np.arange(len(full.positive)) // 2

    return Together(**{name: getattr(full, name) for name in full.__dataclass_fields__})
