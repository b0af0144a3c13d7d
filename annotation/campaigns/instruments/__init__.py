"""Texts for annotators: versions of guidelines, their markup, and changes between versions."""
