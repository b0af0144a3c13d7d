"""Tests of queues and worker processes."""
