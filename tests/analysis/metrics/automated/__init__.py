"""Tests of automatic scores beside people."""
