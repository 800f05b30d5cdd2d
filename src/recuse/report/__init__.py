"""The report of a comparison: its data as a dict, the dict as a page."""

from .html import render
from .summary import summarize

__all__ = ["render", "summarize"]
