"""Watching campaigns while people work: stop rules that pause or close them, and notices to their leads."""
