"""Abstention boosting for three or more classes: one model with a score for each class and, if it pays, a rejector."""
