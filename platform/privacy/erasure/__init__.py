"""Erasing a person: what is deleted, what is kept without saying whose it was, and the list of erased people."""
