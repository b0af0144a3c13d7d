"""Enqueueing jobs, running them, cancelling and retrying them, recovering lost ones."""
