"""Reviewers' hours: what they cost and save, one more of them, and how many cases wait."""

from .cases import PricedCases
from .costing import Forecast
from .plan import CapacityPlan, StaffLevel, WaitingCases, plan_capacity
from .volume import Volume

__all__ = ["CapacityPlan", "Forecast", "PricedCases", "StaffLevel", "Volume", "WaitingCases", "plan_capacity"]
