"""Words in models' texts."""
