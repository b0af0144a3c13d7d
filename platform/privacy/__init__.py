"""Erasing people, retention rules, and what people may see of their own data."""
