"""Payments to people from panels: who is proposed what, what was decided, and what a worker sends to the panel."""
