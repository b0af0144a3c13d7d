"""Tests of the work of a scorer."""
