"""Boosting with abstention: from the training set to a fitted pair of scores."""
