"""Signing in through a SAML identity provider with a key of its own."""
