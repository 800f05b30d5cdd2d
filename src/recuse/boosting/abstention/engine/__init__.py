"""One boosting run: a problem of coded cases and a loss in, a `Solution` out. NumPy, SciPy and compiled loops only."""
