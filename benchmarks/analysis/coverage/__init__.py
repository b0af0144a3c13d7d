"""How often intervals of results cover a planted truth."""
