"""Reuses the campaigns and the query counter of the tests of leads' pages."""

from tests.annotation.conftest import marking
from tests.annotation.lead.conftest import queries

__all__ = ["marking", "queries"]
