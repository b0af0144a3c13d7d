"""Answers that models gave elsewhere become answers of a study."""
