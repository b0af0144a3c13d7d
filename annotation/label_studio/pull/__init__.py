"""What is read from Label Studio: webhooks, events, comparisons, deletions and the mirror."""
