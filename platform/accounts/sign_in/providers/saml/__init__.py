"""Signing in through a SAML 2.0 identity provider: what we ask it, and which of its answers we believe."""
