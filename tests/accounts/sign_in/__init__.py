"""Tests of signing in."""
