"""Tests of requests to a Label Studio server."""
