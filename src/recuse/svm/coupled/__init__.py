"""Two one-class machines, one per class, coupled by their errors."""
