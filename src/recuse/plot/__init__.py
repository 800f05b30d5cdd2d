"""Displays of reject-option classifiers: computed once, drawn when asked, on axes of your own if you like."""
