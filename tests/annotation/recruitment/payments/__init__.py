"""Payments: proposals, and no double payments."""
