"""Campaigns of kinds of questions, with answers whose truth is known."""
