"""The input tables of measures, and the result that every measure returns."""
