"""Means and shares of answers."""
