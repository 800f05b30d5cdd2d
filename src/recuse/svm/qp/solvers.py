"""The solvers of the kinked program by name, and the one that suits given cases.

A solver takes a `KinkedQP`, a source of kernel rows and a feasible starting point (or None), and returns a `Solution`
whose model is an `Expansion`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...solution import Solution
from ..kernels import Kernel
from ..rows import kernel_source
from .active_set import solve_active_set
from .interior_point import solve_linear
from .narrowing import MANY, solve_narrowed
from .problem import KinkedQP
from .smo import solve_smo

# From this many cases on, "smo" solves a linear kernel with at most _NARROW features in the space of the features.
_MANY = 2000
_NARROW = 1000


@dataclass(frozen=True)
class Solver:
    """A solver, to be called with a program and its kernel rows.

    Attributes
    ----------
    solve : callable
        The solver.
    in_features : callable, optional
        What takes its place for a linear kernel on many cases of few features; it needs no kernel rows.
    """

    solve: Callable[..., Solution]
    in_features: Callable[..., Solution] | None = None

    def __call__(self, problem: KinkedQP, rows: Any, **options: Any) -> Solution:
        """Solve a program with these kernel rows."""
        return self.solve(problem, rows, **options)

    def prepare(
        self, X: Any, kernel: Kernel, *, tol: float, max_iter: int, cache_bytes: int, several: bool = False
    ) -> Callable[..., Solution]:
        """The solver for these cases, as a function of a program."""
        if self.in_features is not None and _few_features(X, kernel):
            return partial(self.in_features, X=X, tol=tol, max_iter=max_iter)
        rows = kernel_source(X, kernel, cache_bytes=cache_bytes, tol=tol, several=several)
        return partial(self.solve, rows=rows, tol=tol, max_iter=max_iter, cache_bytes=cache_bytes)


def solver_for(
    name: str, X: Any, kernel: Kernel, *, tol: float, max_iter: int, cache_size: float, several: bool = False
) -> Callable[..., Solution]:
    """The named solver for these cases, as a function of a program and, optionally, `start` and `polish`.

    The kernel rows are set up once, and serve every program that the function is called with; with `several` programs
    to come, a row that is computed for one of them is kept for the others.
    """
    cache_bytes = int(cache_size * 2**20)
    return SOLVERS[name].prepare(X, kernel, tol=tol, max_iter=max_iter, cache_bytes=cache_bytes, several=several)


def _few_features(X: Any, kernel: Kernel) -> bool:
    """Whether the kernel is linear and the cases are many more than the features."""
    n, d = X.shape
    return kernel.form.linear and n >= _MANY and d <= min(_NARROW, n // 4)


def _in_features(problem: KinkedQP, *, X: Any, tol: float, max_iter: int, **_: Any) -> Solution:
    """The interior point method takes few steps from anywhere: it needs neither a start nor a polish."""
    if len(problem) >= MANY and max_iter < 0:
        return solve_narrowed(problem, X, tol=tol)
    return solve_linear(problem, X, tol=tol, max_iter=max_iter)


SOLVERS = {"smo": Solver(solve_smo, _in_features), "active_set": Solver(solve_active_set)}
