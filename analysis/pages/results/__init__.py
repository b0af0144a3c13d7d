"""The pages of a study's results."""
