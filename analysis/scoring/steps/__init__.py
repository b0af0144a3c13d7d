"""The steps of a scorer: embed, score, caption, classify, and store the results."""
