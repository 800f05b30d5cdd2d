"""Measure ratios against a peer, and write them to files.

Ours and the peer's run alternately, several times, in the same process; the best time of each counts, since other load
on the machine can only add to it.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
TIMED = "Best of several runs, alternating, in one process; seconds unless said otherwise. "


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    what, size, peer : str
        What was measured, on how much data, against which peer.
    ours, theirs : float
        Best seconds (or mebibytes, where `what` says so).
    goal : float or None
        The ratio ours / theirs should be at most this.
    timed : bool
        Whether the figures are best times of several alternating runs.
    """

    what: str
    size: str
    peer: str
    ours: float
    theirs: float
    goal: float | None = None
    timed: bool = False

    @property
    def ratio(self) -> float:
        """Ours divided by the peer's: below 1 is better; 1 if both are 0."""
        if self.theirs == 0:
            return 1.0 if self.ours == 0 else float("inf")
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        if self.goal is None:
            return ""
        # Not by the ratio, which has no value where both are 0.
        return f"<= {self.goal:g}: {'met' if self.ours <= self.goal * self.theirs else 'MISSED'}"


def measure(
    what: str,
    size: str,
    ours: Callable[[], object],
    peer: str,
    theirs: Callable[[], object],
    *,
    goal: float | None = None,
    repeats: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> Row:
    """Time two callables alternately and keep the best of each; the first call of each is a warm-up and does not count.

    For work of a single thread, `time.process_time` as the clock makes other load on the machine matter little.
    """
    ours(), theirs()
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for i, call in enumerate((ours, theirs)):
            start = clock()
            call()
            best[i] = min(best[i], clock() - start)
    return Row(what, size, peer, best[0], best[1], goal, timed=True)


def report(
    name: str,
    description: str,
    rows: Iterable[Row],
    *,
    write: bool,
    notes: Callable[[list[Row]], str] | None = None,
) -> None:
    """Print rows as they are measured, and write them as JSON and Markdown; `notes` of all rows go below them."""
    print(f"\n{name}: {description.splitlines()[0]}")
    done = []
    for row in rows:
        done.append(row)
        print(
            f"  {row.what:<44} {row.size:<18} {row.ours:>9.4f} against {row.theirs:>9.4f} ({row.peer}): "
            f"{row.ratio:.2f}x {row.verdict}",
            flush=True,
        )
        if write:  # an interrupted run leaves what it has measured
            _write(name, description, done, "The run was interrupted here: what follows is missing.")
    words = notes(done) if notes is not None else ""
    if write:
        _write(name, description, done, words)
    elif words:
        print(words)


def _write(name: str, description: str, rows: list[Row], words: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(_as_data(name, rows), indent=2) + "\n")
    (RESULTS / f"{name}.md").write_text(_as_page(name, description, rows, words))


def _as_data(name: str, rows: list[Row]) -> dict:
    measured = [asdict(row) | {"ratio": row.ratio, "verdict": row.verdict} for row in rows]
    return {"benchmark": name, "machine": _machine(), "rows": measured}


def _as_page(name: str, description: str, rows: list[Row], words: str = "") -> str:
    machine = ", ".join(f"{key} {value}" for key, value in _machine().items())
    lines = [
        f"# {name}",
        "",
        description,
        "",
        "| what | size | peer | ours | peer's | ours / peer's | goal |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
        *(
            f"| {row.what} | {row.size} | {row.peer} | {row.ours:.4f} | {row.theirs:.4f} | {row.ratio:.2f} | "
            f"{row.verdict} |"
            for row in rows
        ),
        "",
        *([words, ""] if words else []),
        f"{TIMED if any(row.timed for row in rows) else ''}Measured with {machine}.",
        f"To run it again: `make bench` or `python -m benchmarks {name}`.",
        "",
    ]
    return "\n".join(lines)


def _machine() -> dict[str, str]:
    packages = {package: version(package) for package in ("recuse", "numpy", "scipy", "scikit-learn")}
    return {"cores": str(os.cpu_count()), "Python": platform.python_version(), **packages}
