"""Measures, automated scoring, results, plots, plans and releases of studies."""
