"""Results of campaigns of questions: the measures that a kind may declare, and their tables."""
