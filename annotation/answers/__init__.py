"""Annotators' answers: validated, saved once, corrected, counted and replaced."""
