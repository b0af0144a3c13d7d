"""The pages of automated scoring."""
