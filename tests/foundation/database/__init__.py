"""Tests of the database engines, and separate databases for tests."""
