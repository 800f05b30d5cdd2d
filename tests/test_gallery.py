"""The examples of the gallery run, draw something, and their pages are what the script writes."""

import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import LIMIT

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "gallery.py"
NAMES = runpy.run_path(str(SCRIPT))["NAMES"]
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    """Pages and pictures, made anew."""
    folder = tmp_path_factory.mktemp("gallery")
    command = [sys.executable, "-W", "error", str(SCRIPT), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=os.environ | ONE_THREAD)
    assert done.returncode == 0, done.stderr
    return folder


def split(text):
    """The words of a text, and its numbers."""
    return NUMBER.sub("#", text), [number.replace(",", "") for number in NUMBER.findall(text)]


def close(found, shown):
    """Whether two printed numbers agree: figures of fitted models may differ a little on another processor."""
    if "." not in found and "." not in shown and abs(int(found) - int(shown)) <= 1:
        return True
    return math.isclose(float(found), float(shown), rel_tol=0.03, abs_tol=1.01 * 10.0 ** -len(shown.partition(".")[2]))


@pytest.mark.parametrize("name", [*NAMES, "index"])
def test_pages_show_what_was_printed(gallery, name):
    words, numbers = split((gallery / f"{name}.md").read_text(encoding="utf-8"))
    shown_words, shown_numbers = split((ROOT / "docs" / "gallery" / f"{name}.md").read_text(encoding="utf-8"))
    remedy = "run: python examples/gallery.py docs/gallery"
    assert re.split(r"\s+", words) == re.split(r"\s+", shown_words), remedy
    assert [pair for pair in zip(numbers, shown_numbers, strict=True) if not close(*pair)] == [], remedy


@pytest.mark.parametrize("name", NAMES)
def test_pictures_show_something(gallery, name):
    from matplotlib.image import imread

    pixels = imread(gallery / f"{name}.png")[..., :3]
    assert pixels.shape[0] >= 300
    assert pixels.shape[1] >= 600
    assert 0.005 < (pixels < 0.9).any(axis=2).mean() < 0.9  # neither blank nor black


def test_every_example_is_in_the_gallery_or_has_its_own_command():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts == {*NAMES, "gallery", "breast_cancer"}
    assert "examples/breast_cancer.py" in (ROOT / "Makefile").read_text(encoding="utf-8")
