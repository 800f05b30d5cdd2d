"""Successive convex programs: the difference-of-convex algorithm of the double ramp machine."""
