"""Run one of the papers' experiments from the command line."""

from __future__ import annotations

import argparse
from importlib import import_module
from inspect import signature
from pathlib import Path

from . import PROTOCOLS


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and run the protocol."""
    parser = argparse.ArgumentParser(prog="python -m recuse.reproduce", description=__doc__)
    parser.add_argument("name", choices=sorted(PROTOCOLS), help="which experiment")
    parser.add_argument("--quick", action="store_true", help="two splits and a small grid, to see that it runs")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no further part after this time")
    parser.add_argument("--out", type=Path, default=None, help="folder for NAME.json and NAME.md (default: only print)")
    parser.add_argument(
        "--repetitions", type=int, default=None, help="repetitions of the cross-validation (double-ramp)"
    )
    options = parser.parse_args(arguments)
    module = import_module(f".{PROTOCOLS[options.name]}", __package__)
    extra = {} if options.repetitions is None else {"repetitions": options.repetitions}
    if extra and "repetitions" not in signature(module.run).parameters:
        parser.error(f"{options.name} has a fixed number of repetitions: leave out --repetitions")
    module.run(quick=options.quick, minutes=options.minutes, out=options.out, **extra)


if __name__ == "__main__":
    main()
