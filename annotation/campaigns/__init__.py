"""Campaigns: their life cycle, what they ask, what annotators read, and how far they are."""
