"""Annotators at work in a real browser."""
