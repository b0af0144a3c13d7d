"""How far annotators agree: coefficients, consensus, and their intervals."""
