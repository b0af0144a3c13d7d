"""Translated texts for annotators: of scripts and of refusals; and the choice of a campaign's language."""
