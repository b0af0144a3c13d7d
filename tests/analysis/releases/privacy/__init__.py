"""Tests of the privacy of releases."""
