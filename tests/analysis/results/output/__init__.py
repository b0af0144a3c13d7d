"""Tests of the files that `analyze` writes."""
