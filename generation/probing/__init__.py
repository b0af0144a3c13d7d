"""Probing: questions put to models, and what the answers say."""
