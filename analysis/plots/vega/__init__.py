"""The same plots as Vega-Lite, for files."""
