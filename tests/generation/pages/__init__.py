"""Tests of the generation pages."""
