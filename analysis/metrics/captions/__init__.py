"""Attributes in captions, and the attributes that are salient for a group."""
