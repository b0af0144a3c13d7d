"""Benchmarks of the exchange with a Label Studio server."""
