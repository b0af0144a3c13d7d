"""Tests of setting up a study."""
