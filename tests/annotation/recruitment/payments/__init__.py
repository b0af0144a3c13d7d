"""Payments: who is proposed what, and that nobody is paid twice."""
