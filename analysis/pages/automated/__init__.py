"""The pages of automated measures."""
