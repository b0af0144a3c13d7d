"""Tests of sending campaigns to a real Label Studio server."""
