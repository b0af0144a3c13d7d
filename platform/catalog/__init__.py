"""Resources of known stereotypes: identity groups, attributes, and their imports."""
