"""Tests of the tables that measures take."""
