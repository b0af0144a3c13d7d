"""Which annotator is given which task: quotas, selection, slots, leases and checks."""
