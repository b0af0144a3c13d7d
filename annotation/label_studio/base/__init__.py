"""Connections, jobs, locks and hooks that every other part of Label Studio's integration needs."""
