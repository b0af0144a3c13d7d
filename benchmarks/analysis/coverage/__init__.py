"""Coverage of a planted truth by the intervals of results."""
