"""Tests of reading and writing Label Studio's files."""
