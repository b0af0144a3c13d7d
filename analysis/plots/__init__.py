"""Plots as SVG made of classes, so that they follow the page's colours, with the numbers they show."""

from analysis.plots.plot import Plot

__all__ = ["Plot"]
