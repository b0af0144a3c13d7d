"""Words in what models write."""
