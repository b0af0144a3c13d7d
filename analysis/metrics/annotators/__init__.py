"""Statistics of each annotator, and comparisons between groups of annotators."""
