"""Paid people from panels: providers, recruitments, places and decisions about them."""
