"""Check what would be published: ``make release-check``.

Builds the source archive and, from it, the wheel; looks at both; installs the wheel into an empty environment and uses
it from a folder that knows nothing of this one. Needs the packages of the extra ``release`` and a package index.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SMOKE = ROOT / ".ci" / "smoke.py"
# What is not Python, and would be missed only where a user needs it.
DATA_FILES = {"recuse/py.typed"} | {
    path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/recuse/report/templates").iterdir()
}


def main() -> None:
    """Build, look, install, use; the first thing that is wrong ends the run."""
    for old in DIST.glob("recuse-*"):
        old.unlink()
    python("-m", "build", "--outdir", DIST, ROOT)  # the archive, and the wheel from the archive
    (archive,), (wheel,) = DIST.glob("recuse-*.tar.gz"), DIST.glob("recuse-*.whl")
    python("-m", "twine", "check", "--strict", archive, wheel)
    fail_if(problems_of(wheel))
    with tempfile.TemporaryDirectory() as folder:
        python("-m", "build", "--wheel", "--outdir", folder, ROOT)
        (direct,) = Path(folder).glob("*.whl")
        fail_if(differences(wheel, direct))
    use(wheel)
    print(f"release-check: {archive.name} and {wheel.name} are as they should be.")


def problems_of(wheel: Path) -> list[str]:
    """What a wheel lacks, or holds and should not."""
    with ZipFile(wheel) as file:
        names = set(file.namelist())
        metadata = next(file.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    problems = [f"{name} is missing" for name in sorted(DATA_FILES - names)]
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/recuse").rglob("*.py")}
    sources |= {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/recuse/exporting/templates").glob("*.txt")
    }
    problems += [f"{name} is missing" for name in sorted(sources - names)]
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        problems.append("the licence is missing")
    foreign = [name for name in names - sources - DATA_FILES if not re.match(r"recuse-[^/]+\.dist-info/", name)]
    problems += [f"{name} does not belong into a wheel" for name in sorted(foreign)]
    if ".dev" in wheel.name:
        problems.append(f"{wheel.name} is a version under development: set __version__ in src/recuse/__init__.py")
    heading = f"## {wheel.name.split('-')[1]} "
    if heading not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        problems.append(f"CHANGELOG.md has no heading {heading!r}")
    if "Description-Content-Type: text/markdown" not in metadata:
        problems.append("the description is not marked as Markdown")
    return problems


def differences(wheel: Path, other: Path) -> list[str]:
    """Members that two wheels do not have in common, byte for byte."""
    with ZipFile(wheel) as first, ZipFile(other) as second:
        names = set(first.namelist()) | set(second.namelist())
        one, two = ({name: file.read(name) for name in file.namelist()} for file in (first, second))
    return [
        f"{name} differs between the wheel and the source archive's" for name in names if one.get(name) != two.get(name)
    ]


def use(wheel: Path) -> None:
    """Install the wheel into an empty environment, without extras and with them, and use it from another folder."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        scripts = Path(folder) / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        install = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, wheel])
        bare = subprocess.run([scripts / "recuse", "--help"], cwd=folder, capture_output=True, text=True)
        if bare.returncode != 1 or "recuse[cli]" not in bare.stderr:
            fail_if([f"without its extras the command says {bare.stderr!r}, and not which one it needs"])
        run([scripts / "python", "-I", SMOKE, "library"], cwd=folder)
        run([*install, f"{wheel}[cli,report]"])
        run([scripts / "python", "-I", SMOKE, "command", scripts / "recuse", wheel.name.split("-")[1]], cwd=folder)


def python(*arguments: object) -> None:
    """Run this Python."""
    run([sys.executable, *arguments])


def run(command: list[object], cwd: str | None = None) -> None:
    """Run a command; its failure is ours."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


def fail_if(problems: list[str]) -> None:
    """Say what is wrong, one line each, and end."""
    if problems:
        sys.exit("\n".join(f"release-check: {problem}." for problem in problems))


if __name__ == "__main__":
    main()
