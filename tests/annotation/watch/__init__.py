"""Tests of stop rules and notices."""
