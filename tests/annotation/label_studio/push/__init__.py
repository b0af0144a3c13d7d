"""Tests of what is sent to Label Studio."""
