"""Speed and memory, as ratios against a named peer measured in the same run."""
