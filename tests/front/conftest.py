"""The campaigns and counters of a lead's pages serve here too."""

from tests.annotation.conftest import marking
from tests.annotation.lead.conftest import answered, draft, looked, queries

__all__ = ["answered", "draft", "looked", "marking", "queries"]
