"""Monitoring for operators: ids in logs, counters, errors and traces."""
