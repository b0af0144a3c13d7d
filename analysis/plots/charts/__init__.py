"""The kinds of chart, drawn as SVG."""
