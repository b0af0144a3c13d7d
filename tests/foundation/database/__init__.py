"""Tests of the database engines, and databases of a test's own."""
