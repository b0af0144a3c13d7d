"""Scoring models: load them, run them in batches, and call endpoints."""
