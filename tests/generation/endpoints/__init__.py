"""Endpoints: one connection, one client of chat completions."""
