"""Pages of answers to declared questions."""
