"""Campaigns to label over there."""

from tests.annotation.engine.conftest import marking, rating

__all__ = ["marking", "rating"]
