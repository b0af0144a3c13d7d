"""Tests of what is read from Label Studio."""
