"""Signing in through identity providers, which run in separate processes."""
