"""Importing a resource of stereotypes from an uploaded file."""
