"""Tests of running and recovering jobs."""
