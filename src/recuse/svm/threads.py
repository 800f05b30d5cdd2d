"""One thread of linear algebra while a kernel machine is fitted.

The products of a fit are many and small: blocks that stay in the processor's cache. Several threads gain little on
them, and where the machine has other work to do they wait for each other at the end of each product: a fit then takes
many times as long as its share of the processor would say. Many cases with a kernel that is not linear are the
exception: there kernel rows are products of large matrices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

LARGE = 20_000  # cases from which on kernel rows are large enough for several threads

FitT = TypeVar("FitT", bound=Callable[..., Any])


def with_one_thread(fit: FitT) -> FitT:
    """A method ``fit(self, X, ...)`` that limits the linear algebra to one thread where that is better."""

    @wraps(fit)
    def limited(machine: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        with limited_threads(X, machine.kernel):
            return fit(machine, X, *arguments, **options)

    return limited  # type: ignore[return-value]


def limited_threads(X: Any, kernel: Any) -> AbstractContextManager[None]:
    """One thread of linear algebra, but as many as there are for many cases with a kernel that is not linear."""
    several = _large(X) and not (isinstance(kernel, str) and kernel == "linear")
    return nullcontext() if several else one_thread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread, and restore what was there before.

    Depending on the library the number is one of the process or one of the calling thread. So each thread sets and
    restores it; where it is one of the process, what a second thread finds is the limit of the first, and the number
    to restore is the one that the first has found.
    """
    found = _enter()
    try:
        yield
    finally:
        _leave(found)


_LOCK = threading.Lock()
_BEFORE: list[list[int]] = []  # what the fits that are running have found, those of the first one in front


def _enter() -> list[int]:
    """Set the limit; return the numbers of threads to restore."""
    libraries = _libraries()
    with _LOCK:
        found = [int(library.num_threads) for library in libraries]
        if _BEFORE and max(found, default=1) == 1:
            found = _BEFORE[0]
        _BEFORE.append(found)
        _set(libraries, [1] * len(libraries))
    return found


def _leave(found: list[int]) -> None:
    with _LOCK:
        _BEFORE.remove(found)
        _set(_libraries(), found)


def _set(libraries: list[Any], numbers: list[int]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        library.set_num_threads(number)


@cache
def _libraries() -> list[Any]:
    """The libraries loaded by now; looking for them takes longer than a small fit."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _large(X: Any) -> bool:
    """Whether X has many cases; what is no table is refused elsewhere."""
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else len(X) if hasattr(X, "__len__") else 0
    return bool(n >= LARGE)
