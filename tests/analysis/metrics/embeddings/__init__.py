"""Tests of pull and MCAS."""
