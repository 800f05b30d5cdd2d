"""What is published: the wheel holds the library and nothing else, and says what it is."""

import email
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

import recuse
from tests.processes import LIMIT

ROOT = Path(__file__).parents[1]
CHECKS = ROOT / ".ci" / "release_check.py"


def build(source, target, kind):
    """Build with the backend itself, in this environment, so that nothing is fetched."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source archive, the wheel from the source tree, and the wheel from the archive."""
    folder = tmp_path_factory.mktemp("built")
    if not CHECKS.is_file():
        pytest.skip("not in the source tree")
    source = folder / "source"
    unwanted = shutil.ignore_patterns(
        ".git", ".venv*", "__pycache__", "site", "dist", ".hypothesis", ".*_cache", "results"
    )
    shutil.copytree(ROOT, source, ignore=unwanted)
    archive = build(source, folder / "archive", "sdist")
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return archive, build(source, folder / "direct", "wheel"), build(unpacked, folder / "again", "wheel")


def test_the_wheel_holds_the_library_and_nothing_else(built):
    assert runpy.run_path(str(CHECKS))["problems_of"](built[1]) == []


def test_the_archive_gives_the_same_wheel(built):
    assert runpy.run_path(str(CHECKS))["differences"](built[1], built[2]) == []


def test_the_archive_holds_what_the_readme_points_to():
    builder = pytest.importorskip("hatchling.builders.sdist", reason="hatchling is not installed")
    if not CHECKS.is_file():
        pytest.skip("not in the source tree")
    kept = {Path(file.distribution_path) for file in builder.SdistBuilder(str(ROOT)).recurse_included_files()}
    kept |= {folder for path in kept for folder in path.parents}
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(targets) > 20
    assert [target for target in targets if Path(target) not in kept] == []


def test_what_a_wheel_lacks_or_should_not_hold_is_found(built, tmp_path):
    spoiled = tmp_path / built[1].name
    with ZipFile(built[1]) as source, ZipFile(spoiled, "w") as target:
        for name in source.namelist():
            if name != "recuse/py.typed" and not name.endswith("LICENSE"):
                target.writestr(name, source.read(name))
        target.writestr("tests/conftest.py", "")
    checks = runpy.run_path(str(CHECKS))
    assert checks["problems_of"](spoiled) == [
        "recuse/py.typed is missing",
        "the licence is missing",
        "tests/conftest.py does not belong into a wheel",
    ]
    assert len(checks["differences"](built[1], spoiled)) == 3


def test_the_metadata_say_what_it_is(built):
    with ZipFile(built[1]) as file:
        (name,) = [name for name in file.namelist() if name.endswith("METADATA")]
        metadata = email.message_from_bytes(file.read(name))
        (entries,) = [name for name in file.namelist() if name.endswith("entry_points.txt")]
        assert "recuse = recuse.__main__:main" in file.read(entries).decode()
    assert metadata["Version"] == recuse.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert {"cli", "report", "plot", "tables", "dask", "boosters", "all"} <= set(metadata.get_all("Provides-Extra"))
    classifiers = metadata.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    versions = {line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)}
    assert versions == {"3.11", "3.12", "3.13", "3.14"}


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, flags=re.MULTILINE).group(1) == recuse.__version__
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    if ".dev" not in recuse.__version__:
        released = re.search(r"^date-released: (.+)$", citation, flags=re.MULTILINE).group(1)
        assert headings[1] == f"{recuse.__version__} ({released})"
