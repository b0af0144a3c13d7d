"""Reuses the campaigns of the engine's tests."""

from tests.annotation.conftest import marking, rating

__all__ = ["marking", "rating"]
