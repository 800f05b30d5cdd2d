"""Interactions: pairs of features that act together, as step functions of two features beside the shape functions."""
