"""Boxes that annotators drew: whether they agree, and one box to show."""
