"""The report of a comparison, and the page of a model: the data as a dict, the dict as a page."""

from ..staffing import Volume
from .edited import edit_facts
from .html import render, rewrite
from .model_page import render_model
from .summary import summarize
from .watch_page import render_watch

__all__ = ["Volume", "edit_facts", "render", "render_model", "render_watch", "rewrite", "summarize"]
