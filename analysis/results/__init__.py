"""A study's results: read the labels, compute the tables, store the report, write the files."""
