"""Tests of the account pages."""
