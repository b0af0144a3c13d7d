"""The lead's pages and REST API for Label Studio."""
