"""Tests of intervals and p-values."""
