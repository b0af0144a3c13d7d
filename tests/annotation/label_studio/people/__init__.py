"""Tests of which annotator a Label Studio user is."""
