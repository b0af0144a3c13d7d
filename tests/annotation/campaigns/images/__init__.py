"""Tests of reported images."""
