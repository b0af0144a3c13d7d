"""An open marking campaign with pictures, and somebody at a task of it."""

from tests.annotation.engine.conftest import marking
from tests.annotation.pages.conftest import join

__all__ = ["join", "marking"]
