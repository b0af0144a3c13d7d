"""The design system in Python: intervals, tones and the gallery of components."""
