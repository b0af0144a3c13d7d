"""World maps of values of identity groups."""
