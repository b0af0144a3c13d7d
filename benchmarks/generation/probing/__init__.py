"""Benchmarks of questions put to models."""
