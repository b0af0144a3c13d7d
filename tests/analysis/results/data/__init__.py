"""Tests of what results are computed from."""
