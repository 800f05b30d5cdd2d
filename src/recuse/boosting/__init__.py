"""Boosting for classification with a reject option."""
