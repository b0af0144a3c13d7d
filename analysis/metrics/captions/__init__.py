"""Attributes in captions, and which of them are salient for a group."""
