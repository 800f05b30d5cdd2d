"""The tutorial: every command runs, and prints what the page shows."""

import math
import re
from pathlib import Path

import pytest

from tests.console import BLOCK, run_page

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def numbers(text):
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    shown = PAGE.read_text(encoding="utf-8")
    return shown, run_page(shown, tmp_path_factory.mktemp("tutorial"))


def test_every_command_prints_what_the_page_shows(pages):
    """Figures of fitted models may differ by a little on another processor; words may not."""
    for (_, shown), (_, printed) in zip(*(BLOCK.findall(page) for page in pages), strict=True):
        remedy = "run: python -m tests.console docs/tutorial.md"
        assert re.split(r"\s+", NUMBER.sub("#", printed)) == re.split(r"\s+", NUMBER.sub("#", shown)), remedy
        pairs = zip(numbers(printed), numbers(shown), strict=True)
        assert [pair for pair in pairs if not math.isclose(*pair, rel_tol=0.03, abs_tol=1.01)] == [], remedy


def test_every_step_has_its_output(pages):
    kinds = [kind for kind, _ in BLOCK.findall(pages[0])]
    assert kinds.count("console") == 4
    assert all(len(body.splitlines()) > 1 for kind, body in BLOCK.findall(pages[0]) if kind == "console")
