"""Signing in through a SAML 2.0 identity provider: our requests, and the checks of its answers."""
