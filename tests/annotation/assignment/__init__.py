"""Tests of assignment: quotas, checks, caps, leases and concurrency."""
