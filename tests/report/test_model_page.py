"""The page of a model: its edits, with who, why and what it costs, and the functions before and after."""

import re
from xml.etree import ElementTree as Xml

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import recuse
from recuse import AbstentionBoostingClassifier, Costs, ThresholdRejectClassifier
from recuse.cli import app
from recuse.plot.edits import has_changed, matched_functions
from recuse.predicting import inspect_model, report_model
from recuse.report.edited import edit_pages
from recuse.report.step_pictures import picture
from recuse.report.svg import nice_ticks
from tests.report.test_browser import ARGUMENTS, CHROMIUM

PRICES = Costs(fp=1, fn=3, reject=0.3)
HOSTILE = "<script>alert(1)</script>"


def table(n, seed):
    rng = np.random.default_rng(seed)
    job = rng.choice(["student", "nurse", "clerk & <co>"], n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n).round(),
            "income": np.where(rng.random(n) < 0.15, np.nan, rng.lognormal(10, 0.5, n).round()),
            "job": pd.Categorical(job),
            "smoker": pd.Categorical(rng.choice(["yes", "no"], n)),
        }
    )
    together = np.where(frame["smoker"] == "yes", 1.0, -1.0) * np.where(frame["age"] > 50, 1.0, -1.0)
    z = 0.05 * (frame["age"] - 50) + 1.5 * (job == "student") + frame["income"].isna() + together
    return frame, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "bad", "good")


@pytest.fixture(scope="module")
def fitted():
    model = AbstentionBoostingClassifier(
        costs=PRICES, pos_label="bad", family="decoupled", beta=1e-3, n_rounds=60, interactions=[("age", "smoker")]
    )
    return model.fit(*table(500, 0))


@pytest.fixture(scope="module")
def edited(fitted):
    held_out = table(300, 1)
    model = fitted.edit("age", "cap", *held_out, at_most=0.2, by="Ada", why="few cases above 70")
    model = model.edit("job", "set", *held_out, levels=["student"], h=0.0, r=0.0, by=HOSTILE, why="rule 7 & more")
    model = model.edit("income", "flatten", low=15_000, high=30_000, missing=True)
    return model.edit(("age", "smoker"), "remove", *held_out)


@pytest.fixture(scope="module")
def files(fitted, edited, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, model in (("fitted", fitted), ("edited", edited)):
        recuse.save(model, folder / f"{name}.skops")
    report_model(folder / "edited.skops", folder / "page.html")
    return folder


def test_cells_hold_what_the_functions_hold(edited):
    pages = edit_pages(edited)
    assert [page["term"] for page in pages] == ["age", "job", "income", "age x smoker"]
    rng = np.random.default_rng(0)
    for page, edit in zip(pages, edited.edits_, strict=True):
        functions = iter(page["functions"])
        for before, after in matched_functions(edit):
            for position, score in enumerate("hr"):
                if not has_changed(before, after, score):
                    continue
                function = next(functions)
                if function["kind"] != "intervals":
                    continue
                assert function["score"] == score
                values = np.append(rng.uniform(0, 60_000, 200), np.nan)
                cells = np.searchsorted([*function["cuts"], np.inf], values)
                for when, shape in (("before", before), ("after", after)):
                    held = np.array([cell[when] for cell in function["cells"]])[cells]
                    assert held == pytest.approx(shape.evaluate(values)[position])


def test_only_what_changed_is_shown_and_marked(edited):
    cap, of_job, flatten, removed = edit_pages(edited)
    assert [f["score"] for f in cap["functions"]] == ["h"]  # a cap is of h unless said otherwise
    assert max(cell["after"] for cell in cap["functions"][0]["cells"]) == pytest.approx(0.2)
    changed = {cell["label"] for f in of_job["functions"] for cell in f["cells"] if cell["changed"]}
    assert changed == {"student"}
    assert flatten["cost"] is None
    assert [f["kind"] for f in removed["functions"]] == ["pair", "pair"]
    assert all(cell["after"] == 0 for f in removed["functions"] for cell in f["cells"])
    rows, columns = removed["functions"][0]["sides"]
    assert columns == ["no", "yes", "missing"]
    assert len(removed["functions"][0]["cells"]) == 3 * len(rows)


def test_names_of_intervals_tell_close_cuts_apart(fitted):
    shape = next(s for s in fitted.shape_functions_ if s.feature == 1)
    model = fitted.edit("income", "flatten", low=float(shape.cuts[0]), high=float(shape.cuts[0]) + 0.001)
    labels = [cell["label"] for cell in edit_pages(model)[0]["functions"][0]["cells"]]
    assert len(set(labels)) == len(labels)
    assert labels[0].startswith("up to ")
    assert labels[-2].startswith("above ")
    assert labels[-1] == "missing"


def test_pictures_show_every_cell(edited):
    for page in edit_pages(edited):
        for function in page["functions"]:
            drawn = Xml.fromstring(f"<div>{picture(function)}</div>")
            n_cells = len(function["cells"])
            if function["kind"] == "intervals":
                paths = {path.get("class"): path.get("d") for path in drawn.iter("path")}
                assert set(paths) == {"before", "after"}
                assert {path.count("L") + 1 for path in paths.values()} == {2 * (n_cells - 1)}
            elif function["kind"] == "levels":
                shown = sum("bar" in (rect.get("class") or "") for rect in drawn.iter("rect"))
                assert shown in (2 * n_cells, 2 * (n_cells - 1))
            else:
                rows, columns = (len(side) - 1 for side in function["sides"])
                shades = [rect for rect in drawn.iter("rect") if rect.get("class") in ("more", "less")]
                assert len(shades) == 2 * rows * columns
                assert all(0 <= float(rect.get("fill-opacity")) <= 1 for rect in shades)
            assert all("before" in svg.get("aria-label") or "after" in svg.get("aria-label") for svg in drawn)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_few_round_and_inside(low, span):
    high = low + span
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 6
    rounding = 1e-6 * span + 8 * np.spacing(max(abs(low), abs(high)))
    assert all(low - rounding <= tick <= high + rounding for tick in ticks)
    if len(ticks) > 2:
        assert np.ptp(np.diff(ticks)) <= rounding


def test_the_page_says_what_by_whom_why_and_what_it_costs(files, edited):
    page = (files / "page.html").read_text()
    assert "4 edits were made by hand" in page
    assert "Ada" in page
    assert "few cases above 70" in page
    assert "rule 7 &amp; more" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "clerk & <co>" not in page
    cost = edited.edits_[0].cost
    assert f"on {cost.n_cases} cases, of which {cost.changed_answers:.1%} are answered differently" in page
    assert page.count("not measured") == 2  # in the list of all edits, and at the edit
    assert page.count("<svg") == page.count("</svg>") >= 6
    facts = inspect_model(files / "edited.skops")
    assert facts["digest"] in page
    assert "speaks for good where it is greater than 0" in page  # the class that h above 0 speaks for


def test_models_without_edits_say_so(files, tmp_path):
    report_model(files / "fitted.skops", tmp_path / "page.html")
    assert "the model is as it was fitted" in (tmp_path / "page.html").read_text()
    X, y = table(200, 2)
    chow = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, rule="chow", pos_label="bad")
    recuse.save(chow.fit(X[["age"]], y), tmp_path / "chow.skops")
    facts = report_model(tmp_path / "chow.skops", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "cannot be edited" in page
    assert "around LogisticRegression" in page
    assert facts == inspect_model(tmp_path / "chow.skops")


def test_on_the_command_line(files, tmp_path):
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["inspect", str(files / "edited.skops"), "--report", str(out)])
    assert result.exit_code == 0, result.output
    assert "few cases above 70" in result.output
    assert f"{out}: the model as a page" in result.stderr
    assert out.read_text() == (files / "page.html").read_text()


@pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser(files, width, scheme):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, color_scheme=scheme)
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto((files / "page.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        too_wide = page.locator(".scroll").evaluate_all(
            "frames => frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1).map(frame => frame.ariaLabel)"
        )
        assert too_wide == []
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = false; })")
        details = page.locator("details").first
        details.locator("summary").click()
        assert details.locator("tbody tr").first.is_visible()
        ink, paper = (
            page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
            for where, what in ((".picture text", "fill"), ("body", "backgroundColor"))
        )
        browser.close()
    assert complaints == []
    dark = [sum(map(int, re.findall(r"\d+", color)[:3])) for color in (ink, paper)]
    assert (dark[0] > dark[1]) == (scheme == "dark")
