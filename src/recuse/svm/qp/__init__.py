"""The kinked quadratic program of the kernel machines, and its solvers."""
