"""Tests of reading answers from a real Label Studio server."""
