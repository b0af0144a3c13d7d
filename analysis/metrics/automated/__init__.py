"""How well automatic scores agree with people."""
