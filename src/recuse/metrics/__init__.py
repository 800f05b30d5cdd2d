"""Metrics, curves and scorers of classification with a reject option."""
