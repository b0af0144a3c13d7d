"""The tables of a release: their columns and their rows."""
