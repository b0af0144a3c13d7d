"""Answers about images that differ only in the person."""
