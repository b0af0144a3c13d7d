"""The pages of a study's releases."""
