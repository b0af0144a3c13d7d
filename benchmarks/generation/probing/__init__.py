"""Benchmarks of probes."""
