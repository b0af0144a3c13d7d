"""Tests of what scorers look at."""
