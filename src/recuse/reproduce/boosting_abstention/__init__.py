"""The paper on boosting with abstention: `experiment` says what its protocol is, and runs it."""

from .experiment import run

__all__ = ["run"]
