"""Tests of reading tables, and workbooks to read."""
