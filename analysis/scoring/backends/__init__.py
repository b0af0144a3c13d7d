"""Models that score: loading them, running them in batches, and calling endpoints."""
