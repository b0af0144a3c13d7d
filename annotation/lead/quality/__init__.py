"""A lead's pages of quality rules and of tasks with known answers."""
