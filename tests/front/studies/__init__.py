"""Tests of pages and addresses that span apps."""
