"""Prolific's API: requests, answers and events."""
