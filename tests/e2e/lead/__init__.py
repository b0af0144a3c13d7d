"""Leads and analysts at work in a real browser."""
