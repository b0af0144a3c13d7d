"""Tests of the job pages and metrics."""
