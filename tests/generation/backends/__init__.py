"""Tests of the back-ends, with tiny pipelines and an images endpoint."""
