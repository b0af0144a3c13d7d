"""Tests of quality measures, quality rules and practice."""
