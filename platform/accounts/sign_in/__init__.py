"""Signing in with django-allauth; docs/develop/decisions/ says which parts are left to it."""
