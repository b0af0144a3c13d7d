"""Annotators' access to their own data: the page “Your data” and a file to download."""
