"""Tests of the foundation, and helpers that damage files."""
