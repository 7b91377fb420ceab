"""The data that benchmarks read: where it is, its sites with their truth, and its score."""
