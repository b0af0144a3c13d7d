"""Answers made elsewhere."""
