"""Tests of a study's results."""
