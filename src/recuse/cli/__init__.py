"""The command line: arguments only. Each command imports what it needs when it runs, which keeps --help fast."""

from . import comparing, fitting, answering, exporting, reviewing, watching, carding, updating, checking, reproducing  # noqa: F401, I001  listed by --help in this order
from .app import app
from .running import main

__all__ = ["app", "main"]
