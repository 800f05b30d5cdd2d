"""Walking through everything that a loaded model holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np


def parts(model: Any, inside: Callable[[Any], bool] = lambda part: True) -> Iterator[Any]:
    """Yield a model and every object in it, each once; of an object that is not `inside`, neither it nor its own."""
    pending, seen = [model], set()
    while pending:
        part = pending.pop()
        if id(part) in seen or isinstance(part, str | bytes | type | FunctionType) or not inside(part):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set):
            pending.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            pending.extend(part.flat)
        pending.extend(getattr(part, "__dict__", {}).values())


def attributes_of(part: Any) -> dict[str, Any]:
    """Names and values of what an object, or a named tuple, holds."""
    attributes: dict[str, Any] = part._asdict() if hasattr(part, "_asdict") else getattr(part, "__dict__", {})
    return attributes
