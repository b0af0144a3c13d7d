"""Measurements of results, measures, scoring and releases."""
