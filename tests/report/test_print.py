"""What a reader prints, whatever the colours of the screen."""

import re

import pytest

from tests.report.test_browser import CHROMIUM, browser, open_page

__all__ = ["browser", "open_page"]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium, or set CHROMIUM")
A4 = {"width": 720, "height": 1000}


def brightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_is_light_and_ink_is_dark(open_page, scheme):
    page = open_page(color_scheme=scheme)
    page.emulate_media(media="print", color_scheme=scheme)
    pairs = page.locator(".verdict, tr.winner td, tr.winner th, .matrix td, .badge, tfoot td, caption").evaluate_all(
        """parts => parts.filter(part => part.checkVisibility()).map(part => {
            let behind = part;
            while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
            return [getComputedStyle(part).color, getComputedStyle(behind).backgroundColor];
        })"""
    )
    assert len(pairs) > 10
    for ink, paper in pairs:
        assert brightness(ink) < 130
        assert brightness(paper) > 210


def test_headings_of_tables_are_not_broken_within_a_word(open_page):
    page = open_page()
    page.set_viewport_size(A4)
    page.emulate_media(media="print")
    # A heading of one word is one line high.
    broken = page.locator("#leaderboard thead th, #one-page thead th").evaluate_all(
        """cells => cells.filter(cell => cell.checkVisibility()).filter(cell => {
            const words = cell.textContent.trim().split(/\\s+/), probe = document.createElement("span");
            probe.style.cssText = "position: absolute; white-space: nowrap; visibility: hidden";
            cell.append(probe);
            const inner = cell.clientWidth - parseFloat(getComputedStyle(cell).paddingLeft) * 2;
            const wide = words.some(word => { probe.textContent = word; return probe.offsetWidth > inner + 1; });
            probe.remove();
            return wide;
        }).map(cell => cell.textContent)"""
    )
    assert broken == []
    assert page.evaluate("document.documentElement.scrollWidth") <= A4["width"]
    assert page.locator("h1:visible").count() == 1
