"""Tests that hold for every measure."""
