"""Updating a model with the cases that people have reviewed since it was fitted."""

from .judging import JudgedUpdate
from .update import Update, update_model

__all__ = ["JudgedUpdate", "Update", "update_model"]
