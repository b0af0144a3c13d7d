"""Campaigns and a counter of queries of the leads' pages serve here too."""

from tests.annotation.conftest import marking
from tests.annotation.lead.conftest import queries

__all__ = ["marking", "queries"]
