"""Releases of what models answered."""
