"""The double hinge paper: `experiment` says what its protocol is, and runs it."""

from .experiment import run

__all__ = ["run"]
