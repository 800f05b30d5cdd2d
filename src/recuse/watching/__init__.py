"""Watching a model in use, by what its reviewers find."""

from .files import watch_model, write_page
from .following import watch
from .result import Found, WatchResult
from .series import Point
from .simulated import World

__all__ = ["Found", "Point", "WatchResult", "World", "watch", "watch_model", "write_page"]
