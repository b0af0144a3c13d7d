"""Pages of models' answers to probe sets."""
