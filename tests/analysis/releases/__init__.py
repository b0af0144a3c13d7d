"""Releases of a study."""
