"""Reading from Label Studio: webhooks, events, comparisons, deletions and the mirror."""
