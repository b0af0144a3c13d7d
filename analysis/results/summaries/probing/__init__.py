"""Summaries of models' answers to probes, for pages and the report."""
