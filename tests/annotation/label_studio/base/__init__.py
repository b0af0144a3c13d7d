"""Tests of connections to Label Studio servers and of erasure."""
