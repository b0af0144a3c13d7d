"""Benchmarks of labelling and of the pages of campaigns."""
