"""How annotators work: measures, quality rules, and what follows from them."""
