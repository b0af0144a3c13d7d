"""Reuses the campaigns and counters of the tests of leads' pages."""

from tests.annotation.conftest import marking
from tests.annotation.lead.conftest import answered, draft, looked, queries

__all__ = ["answered", "draft", "looked", "marking", "queries"]
