"""The documents of a release."""
