"""Probing: asking models questions, and coding their answers."""
