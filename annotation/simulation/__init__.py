"""Simulated annotators who label over HTTP with known error rates."""
