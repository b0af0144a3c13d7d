"""Rows of stored tables brought together for the pages and the report."""
