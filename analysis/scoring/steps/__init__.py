"""The work of a scorer: embed, score, caption, classify, and store what was found."""
