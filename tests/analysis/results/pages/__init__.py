"""Tests of the analyst’s pages."""
