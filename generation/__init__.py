"""Generating images from prompts, and asking models the questions of probe sets."""
