"""Assigning tasks to annotators: quotas, selection, slots, leases and checks."""
