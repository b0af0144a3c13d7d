"""What people prefer: comparisons of two, and rankings of several."""
