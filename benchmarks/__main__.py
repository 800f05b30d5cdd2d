"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick]``.

Each prints its rows and writes ``benchmarks/results/NAME.json`` and ``NAME.md``.
"""

import argparse
from importlib import import_module

from .runner import report

# Modules of this folder with a function `run(quick)` that yields rows.
BENCHMARKS = (
    "metrics",
    "thresholds",
    "double_hinge",
    "kernel_fits",
    "several_classes",
    "double_ramp",
    "coupled_one_class",
    "abstention_boosting",
    "boosting_defaults",
    "class_boosting",
    "class_regret",
    "categories",
    "compile",
    "interactions",
    "side_by_side",
    "exactboost",
    "precision_at_k",
    "compare",
    "guarantees",
    "dask",
    "honesty",
    "sliders",
    "class_sliders",
    "segments",
    "watching",
    "updating",
    "report",
    "reviews",
    "shrinkage",
    "hostile_files",
    "fuzzed_tables",
    "members",
    "regret",
    "reasons",
    "export",
    "rules",
    "efforts",
    "portfolio",
    "quality",
    "quality_large",
    "class_quality",
)


def main():
    """Parse the command line and run the benchmarks it names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(BENCHMARKS)} (default all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written: does it run at all?")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(BENCHMARKS)}")
    for name in options.names or BENCHMARKS:
        module = import_module(f"benchmarks.{name}")
        notes = getattr(module, "notes", None)  # of the rows, where a benchmark has something to add
        report(name, module.__doc__.strip(), module.run(options.quick), write=not options.quick, notes=notes)


if __name__ == "__main__":
    main()
