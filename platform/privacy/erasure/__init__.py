"""Erasure of a person: deleting or anonymising rows, and the list of erased people."""
