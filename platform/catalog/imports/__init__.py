"""Importing resources of stereotypes and descriptors from files."""
