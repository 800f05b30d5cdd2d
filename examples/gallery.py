"""Run the examples of the gallery and write their pages and pictures: ``python examples/gallery.py docs/gallery``.

Each page is the docstring of the example, its picture, what it printed, and its source. Pages are committed, and the
tests see that they are what this script writes; pictures are made whenever the site is built.
"""

from __future__ import annotations

import ast
import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = (
    "medicine",
    "credit",
    "fraud",
    "triage",
    "failing_sensor",
    "drift",
    "several_classes",
    "big_table",
)


def build(target: Path) -> None:
    """Write every page, every picture and the list of them."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    target.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        write_text(target / f"{name}.md", page(name, run(name, target / f"{name}.png")))
        plt.close("all")
    write_text(target / "index.md", index())


def run(name: str, picture: Path) -> str:
    """Run an example, which draws its picture; return what it printed."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(FOLDER / f"{name}.py"))["main"](picture)
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines())


def page(name: str, printed: str) -> str:
    """The page of an example."""
    title, story, alt, code = read(name)
    parts = [f"# {title}", story, f"![{alt}]({name}.png)", "It prints", f"```text\n{printed}\n```"]
    parts += [f"## The script\n\n`examples/{name}.py`:", f"```python\n{code}\n```"]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The list of the examples, with their pictures."""
    parts = [
        "# Gallery",
        "Examples that run in seconds, on any machine: each is a script in `examples/`, executed when",
    ]
    parts[-1] += " these pages are built, and by the tests."
    for name in NAMES:
        title, _, alt, _ = read(name)
        parts.append(f"## [{title}]({name}.md)\n\n[![{alt}]({name}.png){{ width=480 }}]({name}.md)")
    return "\n\n".join(parts) + "\n"


def read(name: str) -> tuple[str, str, str, str]:
    """Title and story of an example, the description of its picture, and its code without the docstring."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, story = ast.get_docstring(tree).partition("\n\n")
    alt = next(node.value.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "ALT")
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno :])
    return title.removesuffix("."), story, alt, code.strip()


def write_text(path: Path, text: str) -> None:
    """The same bytes on every system."""
    path.write_bytes(text.encode())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
