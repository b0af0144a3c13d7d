"""Signing in through identity providers, which run as processes of their own."""
