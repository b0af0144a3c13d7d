"""Tests of the file formats of a release."""
