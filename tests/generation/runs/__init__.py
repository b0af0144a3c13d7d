"""Tests of generation runs."""
