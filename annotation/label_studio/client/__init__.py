"""Requests to a Label Studio server: addresses, tokens, responses and errors."""
