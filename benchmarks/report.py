"""The report of fourteen methods on 150,000 cases: how large the page is, and how long a browser takes to open it.

The answers are made up: probabilities of a known posterior with noise that differs between the
methods, cut by their rules. The summary, the page and the browser are those of `recuse compare`. "Opened" is from the
navigation to the last chart, in Chromium on a desktop and at the width of a phone; the median of five. "Peer's" is what
was promised: 15 MB, and 3 s.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from recuse import Costs
from recuse.comparison.answers import Answers
from recuse.comparison.cross_validation import RunArguments
from recuse.comparison.folds import FoldResult
from recuse.comparison.methods import METHODS
from recuse.comparison.repetitions import Repetitions
from recuse.comparison.result import Comparison
from recuse.report import Volume, render, summarize
from recuse.report.operating_points import NEVER_REJECTS
from recuse.tables import check_cases

from .runner import Row

COSTS = Costs(1, 5, 0.3)
N_METHODS = 14
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def run(quick=False):
    n = 5_000 if quick else 150_000
    began = time.process_time()
    comparison = _comparison(n)
    summary = summarize(comparison, comparison.model("logistic-chow"))
    page = render(summary).encode()
    size = f"{N_METHODS} methods, {n:,} cases"
    yield Row("size of the page, MB", size, "promised", len(page) / 1e6, 15.0)
    print(f"made in {time.process_time() - began:.1f} processor seconds")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_bytes(page)
        for name, seconds in _opened(path, 2 if quick else 5):
            yield Row(f"opened on a {name}, s", size, "promised", seconds, 3.0)


def _comparison(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    positive = rng.random(n) < 1 / (1 + np.exp(-2 * x + 1))
    frame = pd.DataFrame(
        {"x": x, "age": rng.integers(18, 90, n), "region": rng.choice(list("abcdefgh"), n), "y": positive.astype(int)}
    )
    frame["today"] = np.where(np.abs(x - 0.5) < 0.4, "review", np.where(x > 0.5, "yes", "no"))
    cases = check_cases(frame, "y", 1, drop=["today"], beside=["region", "age", "today"])
    methods = METHODS[:N_METHODS]
    answers = {m.name: _answers(m, x + 0.3 * k * rng.normal(size=n), n) for k, m in enumerate(methods)}
    volume = Volume(12_000, "month", "EUR", 6).as_dict()
    arguments = RunArguments(5, 1, 0, ["today"], by=["region", "age"], policy="today", volume=volume)
    done = Repetitions(1, None, "made up")
    return Comparison(cases, COSTS, list(methods), answers, {}, arguments, "0" * 64, done)


def _answers(method, seen, n):
    p = 1 / (1 + np.exp(-2 * seen + 1))
    lower, upper = COSTS.thresholds
    rejects = method.moves != NEVER_REJECTS
    r = np.maximum(p - upper, lower - p) if rejects else np.ones(n)
    forced = np.where(rejects & (r > 0), p > upper, p > COSTS.break_even).astype(np.int8)
    fold = FoldResult(
        test=np.arange(n),
        forced=forced,
        kind=np.where(r > 0, 0, 1).astype(np.int8),
        h=p - 0.5,
        r=r,
        score=p,
        reason=["probability between the thresholds"] * n,
        fit_seconds=1.0,
        predict_seconds=1.0,
        params={},
        fitted_on=n,
        trained_on=n,
        warnings=[],
    )
    return Answers.of([fold], n, 1)


def _opened(path, times):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for name, (width, height) in SIZES.items():
            taken = []
            for _ in range(times):
                context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
                page = context.new_page()
                began = time.perf_counter()
                page.goto(path.as_uri(), wait_until="commit")
                page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
                taken.append(time.perf_counter() - began)
                context.close()
            yield name, float(np.median(taken))
        browser.close()
