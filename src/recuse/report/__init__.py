"""The report of a comparison: its data as a dict, the dict as a page."""

from .html import render, rewrite
from .summary import summarize

__all__ = ["render", "rewrite", "summarize"]
