"""Tests of the resource pages."""
