"""The papers' protocols: ``python -m recuse.reproduce NAME [--quick]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module

# Name of a paper -> module of this folder with a function `run(arguments)`.
PAPERS = {
    "boosting-abstention": "boosting_abstention",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and run the paper asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m recuse.reproduce", description="Repeat a paper's experiments.")
    parser.add_argument("paper", choices=sorted(PAPERS), help="which paper")
    parser.add_argument("--quick", action="store_true", help="few cases, one split: does it run at all?")
    parser.add_argument("--out", default="benchmarks/results", help="folder for the results")
    parser.add_argument("--minutes", type=float, default=60.0, help="start nothing new after this long")
    parser.add_argument("--splits", type=int, default=5, help="random partitions of the data")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    import_module(f".{PAPERS[options.paper]}", __name__).run(options)
    return 0
