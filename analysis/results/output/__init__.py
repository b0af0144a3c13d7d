"""The files that `analyze` writes: CSV tables, summary and report."""
