"""Signing in through an identity provider: who comes from there, which account is theirs, which roles they have."""
