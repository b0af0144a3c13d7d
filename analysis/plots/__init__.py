"""Plots as SVG with the numbers they show; CSS classes let them follow the page's colours."""

from analysis.plots.plot import Plot

__all__ = ["Plot"]
