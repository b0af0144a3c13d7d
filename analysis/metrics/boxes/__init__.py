"""Boxes that annotators drew: their agreement, and one consensus box to show."""
