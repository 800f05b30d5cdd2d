"""The documentation: every public name is there and explained, every link leads somewhere, and the site builds."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recuse
from tests.processes import LIMIT

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
GALLERY = ROOT / "docs" / "gallery"
# Module -> names of its __all__ that are for this library itself.
PUBLIC = {
    "recuse": set(),
    "recuse.baselines": set(),
    "recuse.batches": {"score_batch"},
    "recuse.cards": set(),
    "recuse.comparison": {"compare", "fit"},  # documented as recuse.compare and recuse.fit
    "recuse.dask": set(),
    "recuse.dask.metrics": set(),
    "recuse.datasets": set(),
    "recuse.ensemble": {"EnsembleRejectClassifier"},
    "recuse.evaluating": set(),
    "recuse.exporting": {"export"},
    "recuse.guarantees": {"GuaranteedRejectClassifier"},
    "recuse.metrics": set(),
    "recuse.persistence": {"load", "open_whole", "remove_stale", "save", "write_whole"},
    "recuse.planning": set(),
    "recuse.plot": set(),
    "recuse.predicting": set(),
    "recuse.reviews": set(),
    "recuse.svm": {"CoupledOneClassSVC", "DoubleHingeSVC", "DoubleRampSVC"},
    "recuse.tables": set(recuse.tables.__all__)
    - {"ColumnFacts", "TableFacts", "TableFile", "check_table", "read_table", "restored"},
    "recuse.thresholds": {"ThresholdRejectClassifier"},
    "recuse.updating": set(),
    "recuse.watching": set(),
}
# What is handed back or listed, and not called: its attributes are explained, the example is where it comes from.
HANDED_BACK = {
    "recuse.batches.BatchColumns",
    "recuse.cards.Card",
    "recuse.comparison.Method",
    "recuse.comparison.Task",
    "recuse.comparison.Verdict",
    "recuse.datasets.Dataset",
    "recuse.ensemble.Member",
    "recuse.evaluating.CalibrationBin",
    "recuse.metrics.ClassScores",
    "recuse.exporting.CannotExportError",
    "recuse.exporting.Exported",
    "recuse.guarantees.Shown",
    "recuse.predicting.Answered",
    "recuse.planning.CapacityPlan",
    "recuse.planning.Forecast",
    "recuse.planning.StaffLevel",
    "recuse.planning.WaitingCases",
    "recuse.reviews.LogState",
    "recuse.reviews.PacketsWritten",
    "recuse.reviews.TamperedLogError",
    "recuse.reviews.VerdictsTaken",
    "recuse.svm.DoubleHingePath",
    "recuse.svm.DoubleRampPath",
    "recuse.tables.ColumnFacts",
    "recuse.updating.JudgedUpdate",
    "recuse.updating.Update",
    "recuse.watching.Found",
    "recuse.watching.Point",
    "recuse.watching.WatchResult",
}


def public_names():
    for module, inner in PUBLIC.items():
        for name in importlib.import_module(module).__all__:
            if name not in inner:
                yield f"{module}.{name}"


NAMES = sorted(public_names())


def find(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_the_reference_lists_every_public_name_once():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    assert sorted(re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE)) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if callable(find(name))])
def test_docstrings_are_complete(name):
    """Every parameter or attribute, what is returned, and an example."""
    thing = find(name)
    text = inspect.getdoc(thing)
    explained = {
        word.strip("*` ")
        for line in re.findall(r"^(?:\S.*)$", text, flags=re.MULTILINE)
        for word in line.partition(" : ")[0].split(",")
    }
    # An exception is raised, not made; its attributes are what matters.
    made = not (inspect.isclass(thing) and issubclass(thing, Exception))
    missing = [p for p in inspect.signature(thing).parameters if p not in explained] if made else []
    assert not missing, f"{name} does not explain {missing}"
    if inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in ("None", None):
        assert "Returns\n-------" in text, name
    if name not in HANDED_BACK:
        assert ">>>" in text, f"{name} has no example"


def anchors(page):
    """What a link may name behind a #: the headings, as they are spelled in addresses."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if linked.suffix == ".png" and linked.parent == GALLERY:  # drawn when the site is built
            linked = ROOT / "examples" / f"{linked.stem}.py"
        assert linked.exists(), f"{target} in {page.name} leads nowhere"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), f"{target} in {page.name}: no such heading"


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page not in menu] == []


def test_the_site_builds(tmp_path):
    """In a copy: the generator writes beside its configuration."""
    for part in ("docs", "src"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "reference" / "estimators" / "index.html").read_text(encoding="utf-8")
    assert 'id="recuse.DoubleHingeSVC"' in page


VERDICTS = {
    "yes": "held",
    "partly": "held in part",
    "no": "did not hold",
    "not settled": "not settled",
    "not measured": "not measured",
}


def verdicts(paper):
    """The verdicts on a paper's claims, from the page that its experiments have written."""
    lines = (ROOT / "benchmarks" / "results" / f"reproduce_{paper}.md").read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| claim of the paper"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield line.strip("| ").rpartition("|")[2].strip()


@pytest.mark.parametrize(
    ("page", "paper"),
    [
        ("double_hinge", "double_hinge"),
        ("double_ramp", "double_ramp"),
        ("coupled_one_class", "consum"),
        ("abstention_boosting", "boosting_abstention"),
        ("exactboost", "exactboost"),
    ],
)
def test_methods_say_what_became_of_their_papers_claims(page, paper):
    found = list(verdicts(paper))
    counts = ", ".join(f"{found.count(key)} {words}" for key, words in VERDICTS.items() if key in found)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert f"Of {len(found)} claims {counts}" in text
