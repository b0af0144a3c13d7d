"""Intervals and p-values: the bootstrap, the jackknife, and corrections for several tests."""
