"""Chart types, drawn as SVG."""
