"""Progress of a fit: lines of the logger "recuse", shown while a fit with ``verbose=1`` runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def shown_progress(verbose: Any) -> Iterator[None]:
    """Show the lines of progress on the error stream while the block runs; nothing for ``verbose=0``."""
    if not verbose:
        yield
        return
    logger, handler = logging.getLogger("recuse"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # a handler of the root would show every line twice
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
