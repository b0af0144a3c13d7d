"""Users and their roles, sign-in, annotator profiles, consent texts, and API tokens."""
