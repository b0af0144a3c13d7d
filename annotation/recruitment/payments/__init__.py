"""Payments to people from panels: proposals, decisions, and what a worker sends to the panel."""
