"""Tests of the lead's pages and API for Label Studio."""
