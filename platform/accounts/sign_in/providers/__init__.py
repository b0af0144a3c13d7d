"""Signing in through an identity provider: people, their accounts and their roles."""
