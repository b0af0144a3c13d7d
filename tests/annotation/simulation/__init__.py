"""Tests of simulated annotators."""
