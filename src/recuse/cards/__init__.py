"""A card for auditors: what a run, its model and the log of reviews say, every figure with the place it is from."""

from .card import Card, make_card, write_card
from .owner import write_questions

__all__ = ["Card", "make_card", "write_card", "write_questions"]
