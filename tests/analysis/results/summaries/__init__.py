"""Tests of the summaries that pages and the report show."""
