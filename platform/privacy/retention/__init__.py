"""Retention rules: automatic removal of data about people that are no longer needed."""
