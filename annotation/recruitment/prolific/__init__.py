"""Prolific's API: what is asked of it, what it answers, and what it tells us by itself."""
