"""The command line as ``python -m recuse.cli``."""

from . import main

main()
