"""Tests of models that score."""
