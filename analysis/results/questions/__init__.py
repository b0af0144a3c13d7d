"""Results of campaigns of kinds of questions: which measures there are, and their tables."""
