"""Tests of building a release."""
