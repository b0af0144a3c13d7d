"""Tests of progress reports."""
