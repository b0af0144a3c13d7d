"""Practice before the first task: who has to do it, its rounds and its feedback."""
