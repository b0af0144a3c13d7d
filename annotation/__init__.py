"""Campaigns: planning and opening them, assigning tasks, storing answers, quality, people and pay."""
