"""The penalties of the double ramp machine by name: each has its convex program of a DC step."""

from __future__ import annotations

from .linear_program import SparseProgram
from .quadratic_program import NormProgram

PENALTIES: dict[str, type[SparseProgram] | type[NormProgram]] = {"l1": SparseProgram, "l2": NormProgram}
