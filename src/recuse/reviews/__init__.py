"""Reviewers: cases out to them in packets, their verdicts back into a log that cannot be changed unnoticed."""

from .chain import TamperedLogError
from .log import LogState, ReviewLog
from .packets import PacketsWritten, write_packets
from .records import REVIEW_COLUMNS
from .verdicts import VerdictsTaken, read_verdicts

__all__ = [
    "REVIEW_COLUMNS",
    "LogState",
    "PacketsWritten",
    "ReviewLog",
    "TamperedLogError",
    "VerdictsTaken",
    "read_verdicts",
    "write_packets",
]
