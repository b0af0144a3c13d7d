"""Campaigns to be labelled in Label Studio."""

from tests.annotation.conftest import marking, rating

__all__ = ["marking", "rating"]
