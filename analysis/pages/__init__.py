"""The pages of results, releases and scoring."""
