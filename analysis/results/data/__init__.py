"""The inputs of results, read from the database."""
