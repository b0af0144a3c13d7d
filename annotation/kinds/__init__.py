"""Kinds of campaign: the language of their declarations, the kinds, and the options and rules of a campaign."""
