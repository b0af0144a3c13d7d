"""Tests of statistics of annotators."""
