"""Campaigns to label over there."""

from tests.annotation.conftest import marking, rating

__all__ = ["marking", "rating"]
