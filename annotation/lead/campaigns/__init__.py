"""A lead's pages of campaigns: drafts, settings, progress, coverage and preview."""
