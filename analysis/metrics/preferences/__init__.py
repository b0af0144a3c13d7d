"""People's preferences: comparisons of two items, and rankings of several."""
