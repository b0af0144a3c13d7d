"""Tests of the tables of a release."""
