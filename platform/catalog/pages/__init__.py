"""The pages of resources, their groups and their import."""
