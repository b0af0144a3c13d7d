"""The campaigns of the engine's tests serve here too."""

from tests.annotation.conftest import marking, rating

__all__ = ["marking", "rating"]
