"""Paid people from panels: providers, recruitments, their places, and what is decided about each."""
