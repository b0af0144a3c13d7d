"""Tests of importing images."""
