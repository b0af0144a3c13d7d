"""Asking questions in batches, which an endpoint answers within a day and at a lower price."""
