"""ExactBoost: stumps boosted on a ranking metric, or on the reject cost, itself."""
