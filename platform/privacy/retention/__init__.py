"""Retention: what is removed without anybody asking, because it is no longer needed."""
