"""Measures of probes: speed, coverage, false discoveries."""
