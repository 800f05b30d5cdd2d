"""Run one of the papers' experiments from the command line."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from . import PROTOCOLS


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and run the protocol."""
    parser = argparse.ArgumentParser(prog="python -m recuse.reproduce", description=__doc__)
    parser.add_argument("name", choices=sorted(PROTOCOLS), help="which experiment")
    parser.add_argument("--quick", action="store_true", help="two splits and a small grid: does it run at all?")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop before a part that would begin after this")
    parser.add_argument("--out", type=Path, default=None, help="folder for NAME.json and NAME.md (default: only print)")
    options = parser.parse_args(arguments)
    module = import_module(f".{PROTOCOLS[options.name]}", __package__)
    module.run(quick=options.quick, minutes=options.minutes, out=options.out)


if __name__ == "__main__":
    main()
