"""Questions that an endpoint answers in batches, within a day and at a lower price."""
